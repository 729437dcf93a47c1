// What the probes for Node have in common: they print one JSON line of what a client gave to its application. The words
// are those of answer.py.
process.env.OPENAI_API_KEY ??= "k"; // nobody looks at it, but the clients want one
process.env.ANTHROPIC_API_KEY ??= "k";

export const url = process.env.CHAOSPROXY_URL ?? "http://127.0.0.1:8666";
export const chat = `${url}/v1/chat/completions`;
export const asked = [{ role: "user", content: "hi" }];
export const question = {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ model: "m", messages: asked, stream: true }),
};
export const milliseconds = process.argv[2] ? 1000 * Number(process.argv[2]) : undefined; // node PROBE 1.5
export const limit = milliseconds ? { timeout: milliseconds } : {};

const leaves = process.env.CHAOSPROXY_CASE === "leave"; // it is to break out of its loop behind the third piece
class Left extends Error {}

class Answer {
  finish = null;
  flag = null;
  #text = "";
  #additions = 0;

  get text() {
    return this.#text;
  }
  set text(text) {
    this.#text = text;
    this.#additions += 1;
    if (leaves && this.#additions === 3) throw new Left();
  }

  // One event of a chat, read by hand. Whether it was the last.
  data(data) {
    if (data === "[DONE]") return true;
    for (const choice of JSON.parse(data).choices) {
      this.text += choice.delta.content ?? "";
      this.finish = choice.finish_reason ?? this.finish;
    }
    return false;
  }
}

// TypeError <- SocketError UND_ERR_SOCKET: terminated
export function chain(error) {
  const names = [];
  for (let one = error; one instanceof Object && names.length < 8; one = one.cause ?? one.lastError)
    names.push([one instanceof DOMException ? one.name : one.constructor.name, one.code].filter((word) => typeof word === "string").join(" "));
  return `${names.join(" <- ")}: ${String(error?.message ?? error).slice(0, 300)}`;
}

export async function run(ask) {
  const answer = new Answer();
  let error = null;
  try {
    await ask(answer);
  } catch (raised) {
    if (!(raised instanceof Left)) error = chain(raised);
  }
  if (leaves) await new Promise((resolve) => setTimeout(resolve, 2000)); // and to live on
  const outcome = error ? "raised" : answer.flag ? "flagged" : "ok";
  const { text, finish, flag } = answer;
  const said = JSON.stringify({ text, finish, outcome, error: error ?? flag });
  process.stdout.write(`${said}\n`, () => process.exit(outcome === "ok" ? 0 : 1)); // when all of it is written
}
