/**
 * The requests that the load generator sends, for objects of about 1 KiB. `bench/load/requests.go` replaces placeholders in the requests.
 * For example, it replaces `{connection}` by the index of the connection.
 */
import { collectionPath } from '../../src/client/resource-path.ts'
import { configMap } from '../../src/api/builtin.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { Client } from '../../src/client/client.ts'
import { app } from '../app.ts'
import { inParallel } from '../controller/apps.ts'

/** The namespace with the objects to write, the namespace with the objects to list, and the namespace with the objects to watch. */
const [written, listed, watched] = ['written', 'listed', 'watched'] as const
export const namespaces = [written, listed, watched]

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly contentType?: string
  readonly body?: string
  /** True for a request that each connection sends only once, at the beginning. */
  readonly once?: boolean
}

interface Kind {
  readonly name: string
  /** Returns the path of all objects in a namespace. */
  readonly path: (namespace: string) => string
  /** Returns an object. `change` is the value of one field, and differs in each write. `revision` is the object's resourceVersion. */
  readonly object: (name: string, change: string, revision?: string) => JsonObject
}

export const configMaps: Kind = {
  name: 'ConfigMap',
  path: (namespace) => collectionPath(configMap, namespace),
  object: (name, change, resourceVersion) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadataOf(name, resourceVersion),
    data: {
      change,
      ...Object.fromEntries(
        Array.from({ length: 12 }, (_, i) => [`setting-${i}`, `the value number ${i} of the setting: ${'x'.repeat(24)}`]),
      ),
    },
  }),
}

export const apps: Kind = {
  name: 'App',
  path: (namespace) => collectionPath(app, namespace),
  object: (name, change, resourceVersion) => ({
    apiVersion: 'bench.proreus.dev/v1',
    kind: 'App',
    metadata: metadataOf(name, resourceVersion),
    spec: {
      image: 'registry.local/app:1.0',
      labels: { change },
      containers: [
        {
          name: 'main',
          image: 'registry.local/team/main:1.2.3',
          env: Array.from({ length: 10 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${i}-of-the-container` })),
          ports: [{ port: 8080 }],
        },
      ],
    },
  }),
}

function metadataOf(name: string, resourceVersion: string | undefined): JsonObject {
  return { name, labels: { app: name, tier: 'web' }, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
}

const json = 'application/json'

/** Returns a request that creates an object with a new name. */
export function create({ path, object }: Kind, prefix: string): Request {
  return {
    method: 'POST',
    path: path(written),
    contentType: json,
    body: JSON.stringify(object(`${prefix}-{connection}-{count}`, '{count}')),
  }
}

/** Returns a server-side apply request. Each connection applies its own object. The first request of a connection creates the object. */
export function apply({ path, object }: Kind): Request {
  const body = JSON.stringify(object('applied-{connection}', 'c{count}'))
  const query = 'fieldManager=load&force=true'
  return { method: 'PATCH', path: `${path(written)}/applied-{connection}?${query}`, contentType: 'application/apply-patch+yaml', body }
}

/**
 * Returns a request that replaces the object `applied-{connection}`. The object must exist before the request is sent. The first request of
 * the function `apply` on the same network connection creates the object.
 */
export function update({ path, object }: Kind): Request {
  return {
    method: 'PUT',
    path: `${path(written)}/applied-{connection}`,
    contentType: json,
    body: JSON.stringify(object('applied-{connection}', 'u{count}', '{revision}')),
  }
}

/**
 * Returns a request that changes one field of the object `applied-{connection}` with a merge patch. Each connection has its own object,
 * which must exist before the connection sends this request. To create the object, a connection first sends the request that the function
 * `apply` returns.
 */
export function patch({ path, object }: Kind): Request {
  const { data, spec } = object('', 'p{count}') as { data?: { change: string }; spec?: { labels: JsonObject } }
  const body = JSON.stringify(data === undefined ? { spec: { labels: spec!.labels } } : { data: { change: data.change } })
  return { method: 'PATCH', path: `${path(written)}/applied-{connection}`, contentType: 'application/merge-patch+json', body }
}

/** Returns a request that changes the first object of a namespace. */
function touch({ path }: Kind, namespace: string): Request {
  const body = JSON.stringify({ metadata: { annotations: { change: '{count}' } } })
  return { method: 'PATCH', path: `${path(namespace)}/object-0`, contentType: 'application/merge-patch+json', body }
}

export const listing = {
  namespace: listed,
  touch: touch(configMaps, listed),
  list: { method: 'GET', path: configMaps.path(listed) },
} as const
export const watching = { namespace: watched, touch: touch(configMaps, watched), path: `${configMaps.path(watched)}?watch=1` } as const

/** Creates ConfigMaps with the names `object-INDEX`. The index runs from `from` to `to - 1`. */
export async function fill(client: Client, namespace: string, from: number, to: number): Promise<void> {
  await inParallel(to - from, async (index) => {
    const { metadata, data } = configMaps.object(`object-${from + index}`, 'none') as {
      metadata: { name: string }
      data: Record<string, string>
    }
    await client.create(configMap, { metadata: { ...metadata, namespace }, data })
  })
}
