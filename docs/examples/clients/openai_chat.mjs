// OpenAI's client for Node: a chat.
import OpenAI from "openai";
import { asked, limit, run } from "./answer.mjs";

await run(async (answer) => {
  const stream = await new OpenAI(limit).chat.completions.create({ model: "m", messages: asked, stream: true });
  for await (const part of stream)
    for (const choice of part.choices) {
      answer.text += choice.delta.content ?? "";
      answer.finish = choice.finish_reason ?? answer.finish;
    }
});
