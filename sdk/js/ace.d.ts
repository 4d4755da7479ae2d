// Types of ace.mjs.

export const VERSION: string;

export type Dialect = "openai" | "openai_responses" | "anthropic" | "gemini" | "mcp";
export type JSONObject = { [name: string]: any };

export interface ACEOptions {
  /** URL of the platform. Default: the one that served this file, or ACE_PLATFORM_URL. */
  baseUrl?: string;
  /** Milliseconds per attempt. Default 60,000. */
  timeout?: number;
  /** Further attempts where they are safe. Default 2. */
  maxRetries?: number;
  /** Instead of the global fetch. */
  fetch?: (url: string, init: any) => Promise<any>;
  /** The user of yours whose connections count, in every call that knows one. */
  endUser?: string;
  /** Put before the client's own User-Agent. */
  userAgent?: string;
  /** Instead of setTimeout, for tests. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface Problem {
  type?: string;
  title?: string;
  status?: number;
  code?: string;
  detail?: string;
  request_id?: string;
  next_action?: string;
  errors?: { pointer: string; code: string; detail: string }[];
  connect?: { url: string; session_id: string; expires_at: string };
  [name: string]: any;
}

export interface ErrorOptions {
  status?: number;
  code?: string;
  problem?: Problem;
  requestId?: string | null;
  retryAfter?: number | null;
  cause?: unknown;
}

export class ACEError extends Error {
  constructor(detail: string, options?: ErrorOptions);
  /** What happened and what to do. */
  detail: string;
  /** HTTP status; 0 if there was no response. */
  status: number;
  /** Stable code. */
  code: string;
  problem: Problem;
  requestId: string | null;
  nextAction: string;
  connectUrl: string | null;
  /** Seconds. */
  retryAfter: number | null;
}
export class AuthError extends ACEError {}
export class PermissionDeniedError extends ACEError {}
export class NotFoundError extends ACEError {}
export class NotConnectedError extends ACEError {}
export class InvalidArgumentsError extends ACEError {}
export class RateLimitError extends ACEError {}
export class ServerError extends ACEError {}
export class ConnectionFailedError extends ACEError {}
export class RequestTimeoutError extends ACEError {}
export class WebhookVerificationError extends ACEError {}

export interface App {
  app: string;
  name: string;
  description?: string;
  categories?: string[];
  tier?: string;
  tools_count?: number;
  connection_status?: "connected" | "needs_reconnect" | "pending" | "not_connected" | "not_required";
  connectable?: boolean;
  [name: string]: any;
}

export interface AppPage {
  apps: App[];
  next_cursor: string | null;
  total?: number;
}

export interface Connection {
  id: string;
  app: string;
  app_name: string;
  label: string | null;
  is_default: boolean;
  account: JSONObject | null;
  status: "active" | "needs_reconnect" | "error" | "disabled" | "revoked";
  status_reason: string | null;
  scopes: string[];
  end_user: string | null;
  created_at: string;
  [name: string]: any;
}

export interface ConnectionPage {
  connections: Connection[];
  next_cursor: string | null;
  total?: number;
}

export interface ConnectSession {
  id: string;
  app: string;
  status: "pending" | "opened" | "connected" | "failed" | "expired" | "canceled";
  connection_id: string | null;
  error: { code: string; detail: string } | null;
  expires_at: string;
}

export interface Link {
  /** Show this to the person who connects the app. */
  url: string;
  sessionId: string;
  session_id: string;
  app: string;
  status: string;
  expires_at: string;
  reconnects: string | null;
  existing_connections: string[];
  /** Waits until the person has connected the app. `timeout` is in milliseconds, by default 10 minutes. */
  wait(options?: { timeout?: number; signal?: AbortSignal }): Promise<Connection>;
}

export interface ConnectOptions extends CallOptions {
  auth?: string;
  label?: string;
  scopes?: string[];
  scopeProfile?: string;
  params?: Record<string, string>;
  redirectUrl?: string;
  state?: string;
  /** Who may use the link: somebody signed in to the account (default), whoever opens it first, your own page. */
  verify?: "account" | "link" | "callback";
  verifyUrl?: string;
  connectionId?: string;
  notifyWebhookUrl?: string;
  expiresIn?: number;
  endUser?: string;
  idempotencyKey?: string;
}

export interface RequestOptions extends CallOptions {
  method?: string;
  query?: JSONObject;
  headers?: Record<string, string>;
  body?: any;
  connectionId?: string;
  endUser?: string;
  timeoutSeconds?: number;
  idempotencyKey?: string;
}

export interface FoundTool {
  tool: string;
  name: string;
  app: string;
  description: string;
  score: number;
  connection_status: string;
  connection_id?: string;
  required: string[];
  input_schema?: JSONObject;
  [name: string]: any;
}

export interface FoundTools {
  tools: FoundTool[];
  notConnected: JSONObject[];
  not_connected: JSONObject[];
  hint: string | null;
  query_id: string;
}

export interface FindOptions extends CallOptions {
  apps?: string[];
  connectedOnly?: boolean;
  readOnly?: boolean;
  limit?: number;
  include?: ("input_schema" | "output_schema")[];
  endUser?: string;
}

export interface Tool {
  tool: string;
  app: string;
  name: string;
  description: string;
  input_schema: JSONObject;
  definition: JSONObject | null;
  [name: string]: any;
}

export interface Run {
  run_id: string | null;
  tool: string;
  app: string;
  status: string;
  /** False if the app refused; `error` then says why. */
  ok: boolean;
  output: any;
  truncated: boolean;
  next_output_cursor: string | null;
  next_arguments: JSONObject | null;
  files: JSONObject[];
  error: { code: string; detail: string; retryable: boolean; next_action: string; [name: string]: any } | null;
  [name: string]: any;
}

export interface RunPage {
  runs: Run[];
  next_cursor: string | null;
  total?: number;
}

export interface ToolResult extends Run {
  /** The reply in the dialect of the model's call; throws if the run was started with an id. */
  asMessage(): any;
}

export interface RunOptions extends CallOptions {
  connectionId?: string;
  endUser?: string;
  /** Dot paths to keep of the output. */
  fields?: string[];
  maxBytes?: number;
  timeoutSeconds?: number;
  dryRun?: boolean;
  /** Do not wait: see runs.wait. */
  respondAsync?: boolean;
  idempotencyKey?: string;
  /** Throw an ACEError if the app refuses, instead of returning a run with `ok` false. */
  throwOnAppError?: boolean;
}

/** A model's tool call of any dialect, or an object of a vendor's SDK with the same fields. */
export type ModelCall = object;

export interface Catalog {
  list(options?: { category?: string; auth?: string; limit?: number; cursor?: string } & CallOptions): Promise<AppPage>;
  all(options?: { category?: string; auth?: string } & CallOptions): AsyncIterableIterator<App>;
}

export interface Apps {
  search(
    term?: string,
    options?: {
      category?: string;
      connectionStatus?: string;
      endUser?: string;
      limit?: number;
      cursor?: string;
    } & CallOptions,
  ): Promise<AppPage>;
  connect(app: string, options?: ConnectOptions): Promise<Link>;
  session(sessionId: string, options?: { wait?: number } & CallOptions): Promise<ConnectSession>;
  cancel(sessionId: string, options?: CallOptions): Promise<void>;
  confirm(sessionId: string, flowId: string, endUser: string, options?: CallOptions): Promise<{ url: string }>;
  request(app: string, path: string, options?: RequestOptions): Promise<JSONObject>;
}

export interface Connections {
  list(
    options?: {
      app?: string;
      status?: string;
      search?: string;
      endUser?: string;
      limit?: number;
      cursor?: string;
    } & CallOptions,
  ): Promise<ConnectionPage>;
  all(options?: { app?: string; status?: string } & CallOptions): AsyncIterableIterator<Connection>;
  get(connectionId: string, options?: CallOptions): Promise<Connection>;
  update(
    connectionId: string,
    changes?: { label?: string; isDefault?: boolean; disabled?: boolean } & CallOptions,
  ): Promise<Connection>;
  delete(connectionId: string, options?: { revoke?: boolean } & CallOptions): Promise<void>;
  check(connectionId: string, options?: CallOptions): Promise<Connection>;
}

export interface Tools {
  find(task: string, options?: FindOptions): Promise<FoundTools>;
  get(tool: string, options?: { format?: Dialect | "json_schema" } & CallOptions): Promise<Tool>;
  definitions(
    options?: { format?: Dialect; tools?: string[]; apps?: string[]; task?: string } & CallOptions,
  ): Promise<any[]>;
  run(tool: string, args?: JSONObject, options?: RunOptions): Promise<ToolResult>;
  run(call: ModelCall, options?: RunOptions): Promise<ToolResult>;
  runAll(message: object, options?: RunOptions): Promise<any[]>;
}

export interface CustomConnectors {
  create(settings: JSONObject, options?: { idempotencyKey?: string } & CallOptions): Promise<JSONObject>;
  list(options?: CallOptions): Promise<JSONObject[]>;
  get(connectorId: string, options?: CallOptions): Promise<JSONObject>;
  update(connectorId: string, changes: JSONObject, options?: CallOptions): Promise<JSONObject>;
  refresh(connectorId: string, settings?: JSONObject, options?: CallOptions): Promise<JSONObject>;
  test(connectorId: string, options?: CallOptions): Promise<JSONObject>;
  delete(connectorId: string, options?: CallOptions): Promise<void>;
}

/** An event of an app that can be watched. */
export interface TriggerDefinition {
  app: string;
  event: string;
  type: string;
  title: string;
  description: string;
  mode: "webhook" | "poll";
  config_schema: JSONObject;
  /** `data` of one event. */
  sample: any;
  poll_interval_seconds: number | null;
  [name: string]: any;
}

export interface Trigger {
  id: string;
  app: string;
  event: string;
  type: string;
  mode: "webhook" | "poll";
  status: "active" | "paused" | "error";
  status_reason: string | null;
  connection_id: string | null;
  end_user: string | null;
  description: string | null;
  config: JSONObject;
  filter: string | null;
  webhook_url: string;
  /** Only when the trigger is created or its secret replaced. */
  signing_secret?: string;
  poll_interval_seconds: number | null;
  health: JSONObject;
  events_count: number;
  created_at: string;
  updated_at: string;
  [name: string]: any;
}

export interface TriggerPage {
  triggers: Trigger[];
  next_cursor: string | null;
  total?: number;
}

export interface TriggerEvent {
  /** The webhook-id of all its deliveries. */
  id: string;
  type: string;
  sequence: number;
  status: "pending" | "delivered" | "failed" | "skipped";
  received_at: string;
  data: any;
  replays: number;
  deliveries: JSONObject[];
  [name: string]: any;
}

export interface TriggerOptions extends CallOptions {
  /** https URL that events are posted to. */
  webhookUrl: string;
  config?: JSONObject;
  /** Common Expression Language over `data`: only events for which it is true are posted. */
  filter?: string;
  /** Default: the default connection of the app. */
  connectionId?: string;
  endUser?: string;
  pollIntervalSeconds?: number;
  description?: string;
  idempotencyKey?: string;
}

export interface TriggerChanges extends CallOptions {
  webhookUrl?: string;
  description?: string;
  /** Empty: all events are posted. */
  filter?: string;
  status?: "active" | "paused";
  pollIntervalSeconds?: number;
}

export interface Triggers {
  definitions(app: string, options?: CallOptions): Promise<TriggerDefinition[]>;
  create(app: string, event: string, options: TriggerOptions): Promise<Trigger>;
  list(
    options?: {
      app?: string;
      connectionId?: string;
      status?: string;
      limit?: number;
      cursor?: string;
    } & CallOptions,
  ): Promise<TriggerPage>;
  all(options?: { app?: string; connectionId?: string; status?: string } & CallOptions): AsyncIterableIterator<Trigger>;
  get(triggerId: string, options?: CallOptions): Promise<Trigger>;
  update(triggerId: string, changes: TriggerChanges): Promise<Trigger>;
  pause(triggerId: string, options?: CallOptions): Promise<Trigger>;
  resume(triggerId: string, options?: CallOptions): Promise<Trigger>;
  delete(triggerId: string, options?: CallOptions): Promise<void>;
  events(triggerId: string, options?: CallOptions): Promise<TriggerEvent[]>;
  event(triggerId: string, eventId: string, options?: CallOptions): Promise<TriggerEvent>;
  replay(triggerId: string, eventId: string, options?: CallOptions): Promise<TriggerEvent>;
  replayFailed(triggerId: string, options?: CallOptions): Promise<number>;
  test(triggerId: string, options?: CallOptions): Promise<TriggerEvent>;
  rotateSecret(triggerId: string, options?: { overlapSeconds?: number } & CallOptions): Promise<Trigger>;
}

export interface Runs {
  get(runId: string, options?: CallOptions): Promise<Run>;
  list(
    options?: {
      tool?: string;
      app?: string;
      status?: string;
      connectionId?: string;
      endUser?: string;
      limit?: number;
      cursor?: string;
    } & CallOptions,
  ): Promise<RunPage>;
  output(runId: string, cursor?: string, options?: CallOptions): Promise<JSONObject>;
  cancel(runId: string, options?: CallOptions): Promise<Run>;
  wait(runId: string, options?: { timeout?: number; interval?: number } & CallOptions): Promise<Run>;
}

export interface Files {
  upload(
    file: string | Blob | ArrayBuffer | Uint8Array,
    options?: { name?: string; mimeType?: string } & CallOptions,
  ): Promise<JSONObject>;
  download(file: string | { file_id: string }, options?: CallOptions): Promise<Uint8Array>;
}

export class ACE {
  constructor(apiKey?: string | null, options?: ACEOptions);
  readonly catalog: Catalog;
  readonly apps: Apps;
  readonly connections: Connections;
  readonly tools: Tools;
  readonly customConnectors: CustomConnectors;
  readonly triggers: Triggers;
  readonly runs: Runs;
  readonly files: Files;
  me(options?: CallOptions): Promise<JSONObject>;
}

export type WebhookHeaders = { get(name: string): string | null } | Record<string, string | string[] | undefined>;

export function verifyWebhook(
  body: string | ArrayBuffer | Uint8Array,
  headers: WebhookHeaders,
  secret: string | string[],
  options?: { tolerance?: number; now?: number },
): Promise<JSONObject>;
