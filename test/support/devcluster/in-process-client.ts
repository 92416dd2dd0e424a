/**
 * A client of a registry, without sockets. Its requests take no time, so controllers can be simulated on a fake clock. Its watches have no
 * timeout and no bookmarks, because a timeout and bookmarks would need many timers.
 */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { ApiRequest } from '../../../src/client/api-request.ts'
import type { Client } from '../../../src/client/client.ts'
import { clientOver } from '../../../src/client/client.ts'
import { formatQuery } from '../../../src/client/resource-path.ts'
import type { RequestContext } from '../../../src/devcluster/apimachinery/request-context.ts'
import { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'
import { parseRequestInfo } from '../../../src/devcluster/http/request-info.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import type { Fixture } from './registry.ts'

const patchTypes = new Map<string | undefined, 'json' | 'merge' | 'strategic'>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
])

export function inProcessClient(fixture: Fixture): Client {
  return clientOver({
    request: async (request) => {
      const body = await refused(request, () => answer(fixture, request))
      return { statusCode: 200, headers: {}, body: structuredClone(body) }
    },
    stream: (request) => refused(request, async () => watch(fixture, request)),
    close: async () => undefined,
  })
}

/** Runs the operation. If the registry refuses the operation, rejects with the error that a client would throw. */
async function refused<T>(request: ApiRequest, operation: () => Promise<T>): Promise<T> {
  request.signal?.throwIfAborted()
  request.guard?.()
  try {
    return await operation()
  } catch (error) {
    throw error instanceof StatusError ? new ApiError(error.status, request) : error
  }
}

function targetOf({ catalog }: Fixture, { method, path, query }: ApiRequest) {
  const parameters = new URLSearchParams(formatQuery(query).slice(1))
  const target = parseRequestInfo(method, path, parameters)
  const info: ResourceInfo | undefined = catalog.find(target.group, target.version, target.resource)
  if (info === undefined) throw new Error(`${path}: there is no such type`)
  const selection = Object.fromEntries(
    ['labelSelector', 'fieldSelector', 'resourceVersion'].flatMap((name) => (parameters.has(name) ? [[name, parameters.get(name)!]] : [])),
  )
  return { ...target, info, key: { namespace: target.namespace, name: target.name }, selection, parameters }
}

async function answer(fixture: Fixture, request: ApiRequest): Promise<object> {
  const { registry, context } = fixture
  const { verb, info, key, namespace, name, subresource, selection, parameters } = targetOf(fixture, request)
  const sent: JsonValue = request.body === undefined ? {} : (JSON.parse(request.body) as JsonValue)
  const decoded = { object: sent as JsonObject, duplicates: [] }
  const own: RequestContext = { ...context, fieldManager: parameters.get('fieldManager') ?? '', dryRun: parameters.has('dryRun') }
  const parent = info.namespaced ? namespace : undefined
  switch (verb) {
    case 'get':
      return registry.get(info, key, subresource)
    case 'list':
      return registry.readList(info, { namespace, ...selection })
    case 'create':
      return registry.create(info, parent, decoded, own, subresource === '' ? undefined : name, subresource)
    case 'update':
      return registry.update(info, key, decoded, own, subresource)
    case 'patch': {
      const type = patchTypes.get(request.contentType)
      if (type === undefined) throw new Error(`${request.contentType}: the in-process client has no such patches`)
      return (await registry.patch(info, key, { type, body: sent, duplicates: [] }, own, subresource)).object
    }
    case 'delete':
      return (await registry.delete(info, key, sent as JsonObject, own)).object
    default:
      throw new Error(`${verb}: the in-process client has no such verb`)
  }
}

async function* watch(fixture: Fixture, request: ApiRequest): AsyncGenerator<Buffer, void, undefined> {
  const { info, namespace, selection } = targetOf(fixture, request)
  const signal = request.signal ?? new AbortController().signal
  for await (const { type, object } of fixture.registry.watch(info, { namespace, ...selection }, signal))
    yield Buffer.from(`${JSON.stringify({ type, object })}\n`)
}
