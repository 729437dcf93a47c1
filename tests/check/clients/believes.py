"""A program that believes every clean end."""

import os

from tests.check.clients.good import main
from tests.check.clients.wrong import BelievesHttp

main(BelievesHttp(case=os.environ["CHAOSPROXY_CASE"]))
