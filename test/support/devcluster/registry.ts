/** A registry of the embedded API server with the built-in types and one custom type. */
import type { Clock } from '../../../src/runtime/clock.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Status } from '../../../src/api/status.ts'
import type { StructuralSchema } from '../../../src/api/structural-schema.ts'
import type { Authorizer } from '../../../src/devcluster/access/authorizer.ts'
import { ruleAuthorizer } from '../../../src/devcluster/access/authorizer.ts'
import type { Admission } from '../../../src/devcluster/admission/admission.ts'
import { Registry } from '../../../src/devcluster/registry/registry.ts'
import type { RequestContext } from '../../../src/devcluster/apimachinery/request-context.ts'
import { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { storedVerbs } from '../../../src/devcluster/rest/subresource.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import { compileSchema } from '../../../src/schema/compile.ts'

export const fooSchema: StructuralSchema = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        color: { type: 'string', default: 'red', enum: ['red', 'blue'] },
        note: { type: 'string' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            required: ['port'],
            properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: { type: 'string' } },
          },
        },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        words: { type: 'array', items: { type: 'string' } },
        extra: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
  },
}

export const foos: ResourceInfo = {
  group: 'ex.com',
  version: 'v1',
  kind: 'Foo',
  listKind: 'FooList',
  plural: 'foos',
  singular: 'foo',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: storedVerbs,
  storageKey: 'ex.com/foos',
  storageVersion: 'v1',
  subresources: { status: { kind: 'Foo', verbs: ['get', 'patch', 'update'] } },
  custom: true,
  schema: compileSchema(fooSchema),
  strategy: {},
  columns: [],
  selectableFields: () => ({}),
}

export interface Fixture {
  readonly registry: Registry
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly warnings: string[]
  readonly context: RequestContext
  /** Returns the description of a served type. `plural` is the plural of a built-in type, or `foos`. */
  info(plural: string): ResourceInfo
  /** Returns the request context with changed fields, such as user, dryRun and fieldValidation. */
  as(changes: Partial<RequestContext>): RequestContext
  create(plural: string, object: JsonObject, changes?: Partial<RequestContext>): Promise<JsonObject>
}

/** Creates a registry that contains the namespace `default`, or the given namespaces. */
export async function fixture(
  options: {
    clock?: Clock
    admission?: Admission
    authorizer?: Authorizer
    historyLimit?: number
    namespaces?: readonly string[]
    randomSuffix?: () => string
    hasServiceAccounts?: boolean
  } = {},
): Promise<Fixture> {
  const store = new ObjectStore(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit })
  const catalog = new Catalog([...builtinResources, foos])
  const admission: Admission = options.admission ?? { mutate: ({ object }) => Promise.resolve(object), validate: () => Promise.resolve() }
  const registry = new Registry({
    store,
    catalog,
    admission,
    authorizer: options.authorizer ?? ruleAuthorizer(),
    clock: options.clock ?? systemClock,
    hasServiceAccounts: options.hasServiceAccounts ?? false,
    ...(options.randomSuffix === undefined ? {} : { randomSuffix: options.randomSuffix }),
  })
  const warnings: string[] = []
  const context: RequestContext = {
    user: { username: 'tester', groups: ['system:masters'] },
    dryRun: false,
    fieldManager: '',
    fieldValidation: 'Warn',
    userAgent: 'curl/8.0',
    warn: (text) => {
      if (!warnings.includes(text)) warnings.push(text)
    },
    signal: new AbortController().signal,
  }
  const info = (plural: string): ResourceInfo => {
    const row = catalog.all().find((candidate) => candidate.plural === plural)
    if (row === undefined) throw new Error(`no row ${plural}`)
    return row
  }
  const as = (changes: Partial<RequestContext>): RequestContext => ({ ...context, ...changes })
  const create = (plural: string, object: JsonObject, changes: Partial<RequestContext> = {}): Promise<JsonObject> => {
    const row = info(plural)
    const { namespace } = (object.metadata ?? {}) as { namespace?: string }
    return registry.create(row, row.namespaced ? (namespace ?? 'default') : undefined, { object, duplicates: [] }, as(changes))
  }
  for (const name of options.namespaces ?? ['default']) await create('namespaces', { metadata: { name } })
  return { registry, catalog, store, warnings, context, info, as, create }
}

export function foo(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'ex.com/v1', kind: 'Foo', metadata: { name, ...metadata }, spec }
}

export function pod(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec } }
}

/** Returns the `Status` with which the operation is rejected. Throws if the operation succeeds. */
export async function refusal(operation: () => unknown): Promise<Status> {
  try {
    await operation()
  } catch (error) {
    if (error instanceof StatusError) return error.status
    throw error
  }
  throw new Error('expected to be refused')
}

/** Returns a clock that stands still until `advance` is called. */
export function manualClock(start = Date.parse('2026-01-01T00:00:00Z')): Clock & { advance(ms: number): void } {
  let now = start
  const timers = new Set<{ due: number; callback: () => void }>()
  return {
    now: () => now,
    monotonicNow: () => now,
    after(ms, callback) {
      const timer = { due: now + ms, callback }
      timers.add(timer)
      return { cancel: () => timers.delete(timer) }
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const next = [...timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0]
        if (next === undefined) break
        timers.delete(next)
        now = next.due
        next.callback()
      }
      now = end
    },
  }
}
