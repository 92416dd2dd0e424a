/** A table with one row for each kind of the shipped operators. The tests `test/conformance/operators-*` run for each row. */
import type { Condition } from '../../../src/api/conditions.ts'
import { findCondition } from '../../../src/api/conditions.ts'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import { apps } from '../../../src/api/kubernetes/apps.ts'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import { core } from '../../../src/api/kubernetes/core.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import type { KubernetesObject, NamespacedKey } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import type { Operator } from '../../../src/manager/operator.ts'
import { cronJobOperator } from '../../../src/operators/cronjob/index.ts'
import { cronJob } from '../../../src/operators/cronjob/kind.ts'
import { parseSchedule } from '../../../src/operators/cronjob/schedule.ts'
import { echoOperator } from '../../../src/operators/echo/index.ts'
import { echo, scheduledEcho } from '../../../src/operators/echo/kind.ts'
import { memcachedOperator } from '../../../src/operators/memcached/index.ts'
import { memcached, memcachedOfLimingnihao } from '../../../src/operators/memcached/kind.ts'
import { mypodOperator } from '../../../src/operators/mypod/index.ts'
import { mypod } from '../../../src/operators/mypod/kind.ts'
import { xxxOperatorWith } from '../../../src/operators/xxx/index.ts'
import { xxx } from '../../../src/operators/xxx/kind.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { until } from '../../../src/testing/until.ts'

export type ShippedObject = KubernetesObject & {
  spec: JsonObject
  status?: { observedGeneration?: number; conditions?: Condition[]; lastScheduleTime?: string; binaryNames?: string[] }
}

export interface ShippedKind {
  /** The name of the controller. It is part of the names of tests and namespaces. */
  readonly name: string
  readonly operator: Operator
  readonly type: ResourceType<ShippedObject>
  /** Returns the spec of an object with this name. */
  readonly specOf: (name: string) => JsonObject
  /** Merge patches of the spec, applied in this order. Each patch causes a different write, for example an update of a child. */
  readonly changes: readonly JsonObject[]
  /** The conditions of an object that has converged. The operator writes nothing more to such an object. */
  readonly converged: Readonly<Record<string, Condition['status']>>
  /** The status that `createShipped` writes into a new object. Default: none. */
  readonly firstStatus?: JsonObject
  /**
   * Returns true when the status shows the result of the latest change. Only needed if observedGeneration is not sufficient to determine
   * this.
   */
  readonly isNoticed?: (object: ShippedObject) => boolean
  /** The types of the objects that the operator creates. */
  readonly children: readonly ResourceType[]
}

const shippedType = ({ group, version, kind, plural }: ResourceType): ResourceType<ShippedObject> =>
  resourceType<ShippedObject>({ group, version, kind, plural })

/** A schedule that is due on a leap day only, so that no Job starts while a test runs. */
const rarely = '0 0 29 2 *'
const podSpec = (container: JsonObject): JsonObject => ({
  podSpec: { containers: [{ name: 'main', image: 'example.com/app:1', ...container }] },
})

function latestTime(text: string): number {
  const schedule = parseSchedule(text)
  return 'latest' in schedule ? (schedule.latest(Date.now()) ?? 0) : 0
}

const memcachedRow = (name: string, type: ResourceType): ShippedKind => ({
  name,
  operator: memcachedOperator,
  type: shippedType(type),
  specOf: () => ({ size: 2 }),
  changes: [{ size: 1 }],
  converged: { Available: 'True', Progressing: 'False', Degraded: 'False' },
  children: [apps.deployment],
})

export const shippedKinds: readonly ShippedKind[] = [
  {
    name: 'mypod',
    operator: mypodOperator,
    type: shippedType(mypod),
    specOf: () => podSpec({}),
    changes: [podSpec({ image: 'example.com/app:2' }), podSpec({ resources: { limits: { cpu: '100m' } } })],
    converged: { Ready: 'True', Progressing: 'False', Degraded: 'False' },
    children: [core.pod],
  },
  memcachedRow('memcached', memcached),
  memcachedRow('memcached-limingnihao', memcachedOfLimingnihao),
  {
    name: 'cronjob',
    operator: cronJobOperator,
    type: shippedType(cronJob),
    specOf: () => ({
      schedule: rarely,
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/app:1' }] } } } },
    }),
    // The operator starts a Job immediately if a scheduled time has passed since `lastScheduleTime`. With this status, a new CronJob
    // therefore gets a Job. A change of the schedule can cause another Job. Each schedule has at most one scheduled time per year, so a
    // scheduled time is unlikely to occur during a test.
    firstStatus: { lastScheduleTime: '2020-01-01T00:00:00Z' },
    changes: [{ schedule: '0 0 28 2 *' }, { schedule: '0 0 1 10 *', concurrencyPolicy: 'Replace' }],
    isNoticed: ({ spec, status }) => Date.parse(status?.lastScheduleTime ?? '') >= latestTime(spec['schedule'] as string),
    converged: { Available: 'True', Progressing: 'False', Degraded: 'False' },
    children: [batch.job],
  },
  {
    name: 'echo',
    operator: echoOperator,
    type: shippedType(echo),
    specOf: () => ({ message: 'Hola, 世界!' }),
    changes: [{ message: 'Adiós' }],
    converged: { Complete: 'True', Progressing: 'False' },
    children: [batch.job],
  },
  {
    name: 'scheduledecho',
    operator: echoOperator,
    type: shippedType(scheduledEcho),
    specOf: () => ({ message: 'Hola, 世界!', schedule: rarely }),
    changes: [{ schedule: '@yearly' }, { message: 'Adiós', schedule: rarely }],
    converged: { Scheduled: 'True', Degraded: 'False' },
    children: [batch.cronJob],
  },
  {
    name: 'xxx',
    operator: xxxOperatorWith(defaultOptions),
    type: shippedType(xxx),
    specOf: (name) => ({
      gitUrl: 'https://example.com/hello.git',
      clonePath: '/root/hello',
      buildCommand: 'go build',
      binaryName: 'hello',
      jobName: `build-${name}`,
    }),
    changes: [{ binaryName: 'other' }],
    // After a change of `spec.binaryName`, `status.binaryNames` still contains the previous name. After the build of the new file, the
    // operator removes the file with the previous name, and then removes the previous name from the status.
    isNoticed: ({ spec, status }) => String(status?.binaryNames) === spec['binaryName'],
    converged: { Ready: 'True', CleanupFailed: 'False' },
    children: [batch.job],
  },
]

/** Returns true if the status belongs to the current spec, and has the conditions of a converged object. */
export function isConverged({ converged, isNoticed = () => true }: ShippedKind, object: ShippedObject): boolean {
  const { metadata, status } = object
  return (
    status?.observedGeneration === metadata.generation &&
    isNoticed(object) &&
    Object.entries(converged).every(([type, wanted]) => findCondition(status?.conditions, type)?.status === wanted)
  )
}

export async function createShipped(
  client: Client,
  { type, specOf, firstStatus }: ShippedKind,
  metadata: NamespacedKey,
): Promise<ShippedObject> {
  // While the API server starts to serve a changed CustomResourceDefinition, requests fail with 503. `until` sends a failed request again.
  const created = await until(`${metadata.name} is created`, () => client.create(type, { metadata, spec: specOf(metadata.name) }))
  return firstStatus === undefined ? created : client.patchStatus(type, metadata, { status: firstStatus })
}

const convergedMs = 120_000

export interface Wait {
  readonly timeoutMs?: number
  /** Called before each read of the object, for example to advance a fake clock. */
  readonly pass?: (() => unknown) | undefined
}

/** Resolves with the object when it has converged. */
export function untilConverged(
  client: Client,
  kind: ShippedKind,
  key: NamespacedKey,
  { timeoutMs = convergedMs, pass = () => undefined }: Wait = {},
): Promise<ShippedObject> {
  return until(
    `the ${kind.type.kind} ${key.namespace}/${key.name} has converged`,
    async () => {
      await pass()
      const found = await client.get(kind.type, key)
      if (!isConverged(kind, found))
        throw new Error(`its generation is ${found.metadata.generation}, its status ${JSON.stringify(found.status)}`)
      return found
    },
    timeoutMs,
  )
}

/**
 * Returns the operator without webhooks and conversions. If webhooks are disabled, `run` (src/manager/run.ts) removes them in the same way.
 */
export function withoutWebhooks(operator: Operator): Operator {
  return { ...operator, webhooks: [], conversions: [] }
}
