// undici's fetch, with eventsource-parser.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { Agent, fetch } from "undici";
import { chat, milliseconds, question, run } from "./answer.mjs";

await run(async (answer) => {
  const limits = milliseconds ? { headersTimeout: milliseconds, bodyTimeout: milliseconds } : {};
  const response = await fetch(chat, { ...question, dispatcher: new Agent(limits) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) if (answer.data(data)) break;
});
