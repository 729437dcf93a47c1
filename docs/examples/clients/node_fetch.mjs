// Node's own fetch, with eventsource-parser. Its time-out is one for everything.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { chat, milliseconds, question, run } from "./answer.mjs";

await run(async (answer) => {
  const response = await fetch(chat, { ...question, ...(milliseconds && { signal: AbortSignal.timeout(milliseconds) }) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) if (answer.data(data)) break;
});
