// Anthropic's client for Node: a message, event by event.
import Anthropic from "@anthropic-ai/sdk";
import { asked, limit, run } from "./answer.mjs";

await run(async (answer) => {
  const message = { model: "m", max_tokens: 100, messages: asked, stream: true };
  for await (const event of await new Anthropic(limit).messages.create(message)) {
    if (event.type === "content_block_delta") answer.text += event.delta.text;
    else if (event.type === "message_delta") answer.finish = event.delta.stop_reason;
  }
});
