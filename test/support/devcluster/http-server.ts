/**
 * Starts the HTTP server of the embedded API server for a test. The server has a few types, and a registry whose methods the test can
 * override. The test sends requests with the method `send` of the `TestServer`.
 */
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { bootstrapRoles } from '../../../src/devcluster/bootstrap-roles.ts'
import { tokenAuthenticator } from '../../../src/devcluster/access/authenticate.ts'
import { ruleAuthorizer } from '../../../src/devcluster/access/authorizer.ts'
import type { Grant } from '../../../src/devcluster/access/authorizer.ts'
import { reviewRows } from '../../../src/devcluster/access/reviews.ts'
import { startApiServer } from '../../../src/devcluster/http/server.ts'
import type { ApiServer, ApiServerOptions } from '../../../src/devcluster/http/server.ts'
import type { Resources } from '../../../src/devcluster/http/services.ts'
import { Registry } from '../../../src/devcluster/registry/registry.ts'
import type { UserInfo } from '../../../src/devcluster/apimachinery/request-context.ts'
import { notFound } from '../../../src/devcluster/apimachinery/status-error.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { storedVerbs } from '../../../src/devcluster/rest/subresource.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { testCertificate } from '../certs/server-certificate.ts'

export const admin = 'admin-token'
export const bob = 'bob-token'

const users: ReadonlyMap<string, UserInfo> = new Map([
  [admin, { username: 'admin', groups: ['system:masters'] }],
  [bob, { username: 'bob', groups: [] }],
])

/** Grants that bind each bootstrap role to its groups. */
export const everybody: readonly Grant[] = bootstrapRoles.flatMap(({ rules = [], groups = [] }) =>
  groups.map((group) => ({ group, rules: rules.map((rule) => ({ apiGroups: [], resources: [], ...rule })) })),
)

/** Returns a type for the catalog. Fields that are not given have a default. */
export function rowOf(row: Pick<ResourceInfo, 'group' | 'version' | 'kind' | 'plural'> & Partial<ResourceInfo>): ResourceInfo {
  return {
    listKind: `${row.kind}List`,
    singular: row.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: storedVerbs,
    storageKey: `${row.group}/${row.plural}`,
    storageVersion: row.version,
    subresources: {},
    custom: row.group.includes('.'),
    strategy: {},
    columns: [],
    selectableFields: () => ({}),
    ...row,
  }
}

const nameColumn = {
  name: 'Name',
  type: 'string' as const,
  format: 'name',
  description: 'Name must be unique within a namespace.',
  priority: 0,
  cell: (object: JsonObject) => (object.metadata as JsonObject).name ?? null,
}
const sizeColumn = {
  name: 'Size',
  type: 'integer' as const,
  format: '',
  description: 'How many.',
  priority: 1,
  cell: (object: JsonObject) => (object.spec as JsonObject).size ?? null,
}

const statusVerbs = ['get', 'patch', 'update'] as const

export const rows: readonly ResourceInfo[] = [
  rowOf({
    group: '',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    subresources: { status: { kind: 'Pod', verbs: statusVerbs } },
  }),
  rowOf({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }),
  rowOf({ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', custom: false }),
  rowOf({
    group: 'a.example.com',
    version: 'v1',
    kind: 'Foo',
    plural: 'foos',
    shortNames: ['fo'],
    custom: true,
    columns: [nameColumn, sizeColumn],
    subresources: {
      status: { kind: 'Foo', verbs: statusVerbs },
      scale: {
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: statusVerbs,
        read: () => ({ kind: 'Scale', apiVersion: 'autoscaling/v1' }),
      },
    },
    openapi: {
      type: 'object',
      properties: {
        apiVersion: { type: 'string' },
        metadata: { type: 'object' },
        spec: { type: 'object', properties: { size: { type: 'integer', description: 'How many.' } } },
      },
    },
  }),
  rowOf({
    group: 'a.example.com',
    version: 'v1beta1',
    kind: 'Foo',
    plural: 'foos',
    storageVersion: 'v1',
    deprecationWarning: 'a.example.com/v1beta1 Foo is deprecated',
  }),
]

/** Returns an object of the kind Foo. */
export function foo(name: string, spec: JsonObject = {}, resourceVersion = '1'): JsonObject {
  return deepFreeze({ apiVersion: 'a.example.com/v1', kind: 'Foo', metadata: { name, namespace: 'default', resourceVersion }, spec })
}

/** The methods of the registry that a test overrides. By default, `read` and `readList` return the results of `get` and `list`. */
export type RegistryScript = Partial<Resources> & Partial<Pick<Registry, 'list'>>

/**
 * Returns a registry that contains no objects. The registry accepts every write, but stores nothing. The functions in `methods` replace the
 * methods of the same name.
 */
export function scriptedRegistry(methods: RegistryScript = {}): Resources {
  const get: Registry['get'] =
    methods.get ??
    ((info, key) => {
      throw notFound(info, key.name)
    })
  const list: Registry['list'] = methods.list ?? (() => ({ items: [], metadata: { resourceVersion: '1' } }))
  return {
    get,
    count: () => 0,
    read: async (info, key, subresource) => get(info, key, subresource),
    readList: async (info, options) => list(info, options),
    waitFor: () => Promise.resolve(),
    async *watch() {},
    create: (_info, _namespace, decoded) => Promise.resolve(decoded.object),
    put: (_info, _key, decoded) => Promise.resolve({ object: decoded.object, created: false }),
    patch: (_info, _key, patch) => Promise.resolve({ object: { patched: patch.type }, created: false }),
    delete: () => Promise.resolve({ object: { kind: 'Status', apiVersion: 'v1', status: 'Success' }, accepted: false }),
    deleteCollection: () => Promise.resolve({ metadata: { resourceVersion: '1' }, items: [] }),
    ...methods,
  }
}

export interface TestResponse {
  readonly code: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The parsed body; an empty object if the body is not JSON. */
  readonly json: JsonObject
}

export interface RequestOptions {
  readonly method?: string
  readonly token?: string | null
  readonly accept?: string
  readonly contentType?: string
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestServer {
  readonly server: ApiServer
  readonly catalog: Catalog
  readonly ca: string
  readonly agent: Agent
  send(path: string, options?: RequestOptions): Promise<TestResponse>
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return {}
  }
}

const certificate = testCertificate()

/** Starts an HTTP server on a free port. It is stopped at the end of the test. */
export async function startTestServer(
  test: Test,
  options: { registry?: RegistryScript; catalog?: Catalog; grants?: readonly Grant[] } & Partial<
    Pick<ApiServerOptions, 'onRequest' | 'port' | 'logger' | 'clock' | 'containers'>
  > = {},
): Promise<TestServer> {
  const authorizer = ruleAuthorizer([...everybody, ...(options.grants ?? [])])
  const catalog = options.catalog ?? new Catalog([...rows, ...reviewRows(authorizer, { clock: systemClock })])
  const server = await startApiServer({
    registry: options.registry instanceof Registry ? options.registry : scriptedRegistry(options.registry),
    catalog,
    tls: certificate,
    tokens: tokenAuthenticator(users),
    authorizer,
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger(),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
    ...(options.containers === undefined ? {} : { containers: options.containers }),
  })
  const agent = new Agent({ connect: { ca: certificate.ca } })
  test.teardown(async () => {
    await server.close()
    await agent.destroy()
  })
  const send = async (
    path: string,
    { method = 'GET', token = admin, accept, contentType, body, headers }: RequestOptions = {},
  ): Promise<TestResponse> => {
    const response = await request(`${server.url}${path}`, {
      dispatcher: agent,
      method: method as 'GET',
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(accept === undefined ? {} : { accept }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.body.text()
    return { code: response.statusCode, headers: response.headers, text, json: parsed(text) }
  }
  return { server, catalog, ca: certificate.ca, agent, send }
}
