// The TypeScript SDK of the first generation, which most assistants have: handshake and sessions.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { News, tell, wanted } from "./conversation.mjs";

const news = new News();
const client = new Client({ name: "v1", version: "1" });
client.setNotificationHandler(ResourceListChangedNotificationSchema, news.tell);
const transport = wanted.url
  ? new StreamableHTTPClientTransport(new URL(wanted.url))
  : new StdioClientTransport({ ...wanted.command, env: process.env });
// The client tells its transport which revision was agreed on; that of stdio has no use for it.
transport.setProtocolVersion ??= (version) => (transport.protocolVersion = version);
await client.connect(transport);
await tell({
  client,
  news,
  saw: { version: transport.protocolVersion },
  callTool: (call, options) => client.callTool(call, undefined, options),
  listPage: (cursor) => client.listResources({ cursor }),
});
