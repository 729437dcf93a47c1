// Anthropic's client for Node: a message, by its helper for streams.
import Anthropic from "@anthropic-ai/sdk";
import { asked, limit, run } from "./answer.mjs";

await run(async (answer) => {
  const stream = new Anthropic(limit).messages.stream({ model: "m", max_tokens: 100, messages: asked });
  stream.on("text", (text) => (answer.text += text));
  answer.finish = (await stream.finalMessage()).stop_reason;
});
