// Vercel's AI SDK: both APIs of its OpenAI provider, and its provider for compatible servers.
import assert from "node:assert";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";
import { z } from "zod";

const [url, key] = process.argv.slice(2);
const openai = createOpenAI({ apiKey: key, baseURL: url });
const compatible = createOpenAICompatible({
  name: "talaria", apiKey: key, baseURL: url, supportsStructuredOutputs: true,
});
const schema = z.object({ name: z.string(), size: z.number().int() });
const ulm = { name: "Ulm", size: 3 };
const tools = {
  get_weather: ai.tool({
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `Rain in ${city}`,
  }),
};
const rules = { instructions: "Be brief.", system: "Be brief.", maxRetries: 0 };
const models = {
  responses: openai("talaria"), chat: openai.chat("talaria"), compatible: compatible("talaria"),
};
for (const [name, model] of Object.entries(models)) {
  const base = { ...rules, model };
  assert.equal((await ai.generateText({ ...base, prompt: "say hello" })).text, "hello");
  console.log(name, "plain");
  let words = "";
  for await (const piece of ai.streamText({ ...base, prompt: "say hello" }).textStream) {
    words += piece;
  }
  assert.equal(words, "hello");
  console.log(name, "stream");
  const output = ai.Output.object({ schema });
  const made = await ai.generateText({ ...base, prompt: "a city", output });
  assert.deepEqual(made.output ?? made.experimental_output, ulm);
  const growing = ai.streamText({ ...base, prompt: "a city", output });
  for await (const _ of growing.partialOutputStream ?? growing.experimental_partialOutputStream) {}
  console.log(name, "structured");
  const steps = { tools, stopWhen: (ai.stepCountIs ?? ai.isStepCount)(4) };
  const done = await ai.generateText({ ...base, ...steps, prompt: "weather" });
  assert.equal(done.text, "It is: Rain in Ulm");
  const flowing = ai.streamText({ ...base, ...steps, prompt: "weather" });
  assert.equal(await flowing.text, "It is: Rain in Ulm");
  console.log(name, "tools");
}
