// Vercel's AI SDK, the provider for whatever is compatible with OpenAI.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import { chain, milliseconds, run, url } from "./answer.mjs";

await run(async (answer) => {
  const { textStream, finishReason } = streamText({
    model: createOpenAICompatible({ name: "origin", baseURL: `${url}/v1` })("m"),
    prompt: "hi",
    ...(milliseconds && { timeout: { chunkMs: milliseconds } }),
    onError: ({ error }) => (answer.flag = chain(error)),
  });
  for await (const text of textStream) answer.text += text;
  answer.finish = await finishReason;
  if (["interrupted", "error", "other", "unknown"].includes(answer.finish)) answer.flag ??= answer.finish;
});
