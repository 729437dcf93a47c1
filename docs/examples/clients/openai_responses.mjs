// OpenAI's client for Node: a response. An error may come as an event like any other.
import OpenAI from "openai";
import { limit, run } from "./answer.mjs";

await run(async (answer) => {
  const stream = await new OpenAI(limit).responses.create({ model: "m", input: "hi", stream: true });
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") answer.text += event.delta;
    else if (["response.completed", "response.incomplete", "response.failed"].includes(event.type))
      answer.finish = event.response.status;
    else if ((event.type ?? "error").includes("error")) answer.flag = `an event: ${JSON.stringify(event)}`;
  }
});
