// The TypeScript SDK of the second generation: as it comes, or in the era without sessions.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { News, tell, wanted } from "./conversation.mjs";

const news = new News();
const options = wanted.mode ? { versionNegotiation: { mode: wanted.mode } } : {};
const client = new Client({ name: "v2", version: "1" }, options);
client.setNotificationHandler("notifications/resources/list_changed", news.tell);
const transport = wanted.url
  ? new StreamableHTTPClientTransport(new URL(wanted.url))
  : new StdioClientTransport({ ...wanted.command, env: process.env });
await client.connect(transport);
const saw = { version: client.getNegotiatedProtocolVersion(), era: client.getProtocolEra() };
if (saw.era === "modern") {
  const subscription = await client.listen({ resourcesListChanged: true });
  saw.honoured = subscription.honoredFilter;
}
await tell({
  client,
  news,
  saw,
  callTool: (call, options) => client.callTool(call, options),
  listPage: (cursor) =>
    client.request({ method: "resources/list", params: cursor ? { cursor } : {} }),
});
