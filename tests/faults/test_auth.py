"""`auth`: who has the right credentials is let in, all others are refused before anything begins."""

import json
from dataclasses import replace

import pytest

from chaosproxy.chain.fault import Condition
from chaosproxy.faults import Auth, Latency
from chaosproxy.model.headers import first
from chaosproxy.model.messages import End
from chaosproxy.model.vocabulary import Way
from chaosproxy.testing import Upload, check_fault, play
from chaosproxy.testing.play import GET, POST

SHORT = [(0.1, b"data: 1\n\n"), (0.1, End())]


def status(spec, *fields, path=b"/v1/chat/completions"):
    request = replace(GET, target=path, headers=(*GET.headers, *fields))
    return play([spec], SHORT, request=request).head[1].status


@pytest.mark.parametrize(
    ("spec", "fields", "answer"),
    [
        (Auth(), [], 401),
        (Auth(), [(b"Authorization", b"Bearer anything")], 200),
        (Auth(), [(b"Authorization", b"Basic eDp5")], 401),
        (Auth(), [(b"Authorization", b"Bearer")], 401),
        (Auth(), [(b"Authorization", b"Bearer ")], 401),
        (Auth(), [(b"x-api-key", b"anything")], 200),
        (Auth(token=("sk-1",)), [], 401),
        (Auth(token=("sk-1",)), [(b"authorization", b"bearer sk-1")], 200),
        (Auth(token=("sk-1",)), [(b"authorization", b"Bearer sk-2")], 401),
        (Auth(token=("sk-1",)), [(b"authorization", b"Bearer sk-1x")], 401),
        (Auth(token=("sk-1", "sk-2")), [(b"X-Api-Key", b"sk-2")], 200),
        (Auth(token=("sk-1",)), [(b"api-key", b"sk-1")], 200),
        (Auth(token=("sk-1",)), [(b"x-goog-api-key", b"sk-1")], 200),
        (Auth(token=("s3",), header="X-Token"), [(b"x-token", b"s3")], 200),
        (Auth(token=("s3",), header="X-Token"), [(b"authorization", b"Bearer s3")], 401),
        (Auth(token=("Bearer s3",), header="Authorization"), [(b"authorization", b"Bearer s3")], 200),
        (Auth(status=403), [], 403),
    ],
)
def test_who_is_let_in(spec, fields, answer):
    assert status(spec, *fields) == answer


def test_it_says_why_and_the_upstream_never_hears_of_it():
    played = play([Auth(token=("a",))], SHORT, request=replace(GET, headers=((b"x-api-key", b"b"),)))
    assert played.fired == [(0.0, "auth", "answered 401: the credentials are wrong")]
    assert (played.request, played.end_cause, played.cancelled_at) == ([], "auth", 0.0)
    assert play([Auth()], SHORT).fired == [(0.0, "auth", "answered 401: there are no credentials")]


@pytest.mark.parametrize("lazy", [True, False])
def test_an_upload_of_who_is_let_in_passes(lazy):
    upload = [(0.5, Upload(b"abc")), (1.0, Upload(End()))]
    keyed = replace(POST, headers=(*POST.headers, (b"x-api-key", b"b")))
    played = play([Auth()], upload, request=keyed, lazy=lazy)
    assert [time for time, _ in played.request] == [0.0, 0.5, 1.0]


def test_who_is_let_in_is_not_touched():
    spec = Auth(if_=Condition(client_headers=(("x-never", "yes"),)))
    check_fault(spec, neutral=True)
    keyed = replace(GET, headers=((b"x-api-key", b"b"),))
    played = play([Auth()], SHORT, request=keyed)
    assert (played.request[0][1], played.not_fired) == (keyed, [("auth", "let in")])
    check_fault(Auth())


@pytest.mark.parametrize(
    ("path", "fields", "says"),
    [
        (
            b"/v1/chat/completions",
            ((b"authorization", b"Bearer b"),),
            {"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error", "param": None,
                       "code": "invalid_api_key"}},
        ),
        (
            b"/v1/responses",
            (),
            {"error": {"message": "You didn't provide an API key. You need to provide it in an Authorization header: "
                       "Bearer YOUR_KEY.", "type": "invalid_request_error", "param": None, "code": None}},
        ),
        (
            b"/v1/messages",
            ((b"x-api-key", b"b"),),
            {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}},
        ),
        (b"/api/chat", (), {"error": "unauthorized"}),
    ],
)  # fmt: skip
def test_it_speaks_as_whoever_is_asked(path, fields, says):
    played = play([Auth(token=("a",))], SHORT, request=replace(GET, target=path, headers=fields))
    assert json.loads(played.data) == says
    assert first(played.head[1].headers, b"www-authenticate") == b"Bearer"


def test_another_status_has_no_challenge_and_its_own_type():
    played = play([Auth(status=403)], SHORT, request=replace(GET, target=b"/v1/messages"))
    assert json.loads(played.data)["error"]["type"] == "permission_error"
    assert first(played.head[1].headers, b"www-authenticate") is None


def test_an_answer_of_its_own():
    spec = Auth(headers=((b"WWW-Authenticate", b'Basic realm="x"'),), body=b"who are you?", retry_after=0)
    played = play([spec], SHORT)
    assert played.data == b"who are you?"
    assert played.head[1].headers == (
        (b"content-type", b"application/json"), (b"WWW-Authenticate", b'Basic realm="x"'), (b"retry-after", b"0"),
        (b"content-length", b"12"),
    )  # fmt: skip


def test_an_upload_is_refused_at_its_head_and_taken_to_its_end():
    upload = [(0.5, Upload(b"abc")), (1.0, Upload(End()))]
    played = play([Auth()], upload, request=POST)
    assert (played.head[0], played.request) == (0.0, [])


def test_its_answer_is_in_time_behind_a_machine_that_holds_it():
    """Nothing else would ring: no upstream is asked, and the client has said all."""
    played = play([[Auth(body=b"who?")], [Latency(delay=1.0)]], [(0.5, Upload(End()))], request=GET)
    assert (played.head[0], played.body, played.end[0]) == (1.0, [(1.0, b"who?")], 1.0)


def test_an_answer_that_comes_too_late_lets_nothing_of_the_request_pass():
    """Another one is over before the head has come to this place."""
    late = Latency(delay=1.0, way=Way.REQUEST)
    upload = [(0.0, b"data: 1\n\n"), (0.0, Upload(b"abc")), (0.1, End()), (1.5, Upload(End()))]
    played = play([Auth(way=Way.REQUEST), late], upload, request=POST, lazy=False)
    assert (played.request, played.data) == ([], b"data: 1\n\n")


def test_it_asks_when_the_head_comes_to_its_place():
    late = Latency(delay=1.0, way=Way.REQUEST)
    assert play([[Auth()], [late]], [(0.1, Upload(End()))]).head[0] == 1.0


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("auth: {token: 5}", 19, "a string"),
        ("auth: {header: 'a b'}", 20, "no token"),
        ("auth: {status: 200}", 20, "a whole number from 400 to 599"),
        ("auth: {tokens: a}", 12, "token"),
    ],
)
def test_load_errors(refused, text, column, words):
    refused(text, column, words)
