// Vercel's AI SDK, OpenAI's provider: a chat.
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";
import { chain, milliseconds, run, url } from "./answer.mjs";

await run(async (answer) => {
  const { textStream, finishReason } = streamText({
    model: createOpenAI({ baseURL: `${url}/v1` }).chat("m"),
    prompt: "hi",
    ...(milliseconds && { timeout: { chunkMs: milliseconds } }),
    onError: ({ error }) => (answer.flag = chain(error)),
  });
  for await (const text of textStream) answer.text += text;
  answer.finish = await finishReason;
  if (["interrupted", "error", "other", "unknown"].includes(answer.finish)) answer.flag ??= answer.finish;
});
