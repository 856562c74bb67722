// OpenAI's library for JavaScript: both APIs.
import assert from "node:assert";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const [url, key] = process.argv.slice(2);
const client = new OpenAI({ apiKey: key, baseURL: url, maxRetries: 0 });
const City = z.object({ name: z.string(), size: z.number().int() });
const ulm = { name: "Ulm", size: 3 };
const weather = {
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const user = (content) => [{ role: "user", content }];
const model = "talaria";

let done = await client.chat.completions.create({ model, messages: user("say hello") });
assert.equal(done.choices[0].message.content, "hello");
console.log("chat plain");
let words = "";
for await (const chunk of await client.chat.completions.create({
  model, messages: user("say hello"), stream: true,
})) words += chunk.choices[0]?.delta?.content ?? "";
assert.equal(words, "hello");
console.log("chat stream");
done = await client.chat.completions.parse({
  model, messages: user("a city"), response_format: zodResponseFormat(City, "city"),
});
assert.deepEqual(done.choices[0].message.parsed, ulm);
console.log("chat structured");
const runner = client.chat.completions.runTools({
  model,
  messages: user("weather"),
  tools: [{
    type: "function",
    function: { ...weather, parse: JSON.parse, function: ({ city }) => `Rain in ${city}` },
  }],
});
assert.equal(await runner.finalContent(), "It is: Rain in Ulm");
const streamed = client.chat.completions.runTools({
  model,
  stream: true,
  messages: user("weather"),
  tools: [{
    type: "function",
    function: { ...weather, parse: JSON.parse, function: ({ city }) => `Rain in ${city}` },
  }],
});
assert.equal(await streamed.finalContent(), "It is: Rain in Ulm");
console.log("chat tools");
let answer = await client.responses.create({ model, input: "say hello" });
assert.equal(answer.output_text, "hello");
console.log("responses plain");
answer = await client.responses.stream({ model, input: "say hello" }).finalResponse();
assert.equal(answer.output_text, "hello");
console.log("responses stream");
answer = await client.responses.parse({
  model, input: "a city", text: { format: zodTextFormat(City, "city") },
});
assert.deepEqual(answer.output_parsed, ulm);
console.log("responses structured");
const tools = [{ type: "function", strict: false, ...weather }];
const first = await client.responses.create({ model, input: user("weather"), tools });
const call = first.output.find((one) => one.type === "function_call");
const output = { type: "function_call_output", call_id: call.call_id, output: "Rain" };
answer = await client.responses.create({
  model, input: [...user("weather"), ...first.output, output], tools,
});
assert.equal(answer.output_text, "It is: Rain");
console.log("responses tools");
