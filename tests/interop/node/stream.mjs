// Streams one chat answer and says, a JSON line each, what came and how it ended.
// node stream.mjs BASE_URL TIMEOUT_MS
import OpenAI from "openai";

const [baseURL, timeout] = process.argv.slice(2);
const say = (what) => console.log(JSON.stringify(what));
const client = new OpenAI({ baseURL, apiKey: "k", timeout: Number(timeout) });
try {
  const stream = await client.chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
  });
  let finish = null;
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    finish = choice?.finish_reason ?? finish;
    say({ text: choice?.delta?.content ?? "" });
  }
  say({ error: null, finish });
} catch (error) {
  say({ error: error.constructor.name, message: error.message });
}
