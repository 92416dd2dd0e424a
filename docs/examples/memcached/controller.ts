import { apps, controllerReference, core, defineController, hasFields, isControlledBy, keyOf, mergeConditions } from 'proreus'
import { patchStatusIfChanged, predicates } from 'proreus'
import type { ConditionInput, DeepReadonly } from 'proreus'
import { memcached } from './kind.ts'
import type { Memcached } from './kind.ts'

const ownerLabel = 'example.com/memcached'

export const controller = defineController(memcached, {
  owns: [apps.deployment],
  // The controller reference of a Pod names a ReplicaSet, so `owns` cannot be used for Pods. A label of the Pod names the Memcached.
  watches: [
    {
      type: core.pod,
      predicates: [predicates.labelSelector({ matchExpressions: [{ key: ownerLabel, operator: 'Exists' }] })],
      map: ({ metadata: { namespace, labels } }) => [{ namespace, name: labels?.[ownerLabel] ?? '' }],
    },
  ],
  rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['create', 'patch'] }],
  async reconcile(object, { cache, client, clock, events }) {
    if (object.metadata.deletionTimestamp !== undefined) return
    const key = keyOf(object)
    const wanted = deploymentFor(object)
    let live = cache.get(apps.deployment, key)
    const isForeign = live !== undefined && !isControlledBy(live, object)
    if (!isForeign && !hasFields(live, wanted)) {
      events.event(object, 'Normal', live === undefined ? 'Creating' : 'Updating', `Deployment ${key.name}: ${object.spec.size} Pods`)
      live = await client.apply(apps.deployment, wanted)
    }
    const labelled = cache.list(core.pod, { namespace: key.namespace, labelSelector: { matchLabels: { [ownerLabel]: key.name } } })
    const pods = labelled.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = (isForeign ? undefined : live?.status) ?? {}
    const available = isForeign ? nameConflict : availability(object.spec.size, availableReplicas, pods)
    const at = { now: clock.now(), generation: object.metadata.generation }
    const conditions = mergeConditions(object.status?.conditions, [{ type: 'Available', ...available }], at)
    const nodes = pods.map(({ metadata }) => metadata.name).sort()
    const selector = `${ownerLabel}=${key.name}`
    await patchStatusIfChanged(client, memcached, object, { nodes, replicas, readyReplicas, selector, conditions })
  },
})

const nameConflict = { status: 'False', reason: 'NameConflict', message: 'The Deployment belongs to somebody else.' } as const

function availability(size: number, available: number, pods: readonly DeepReadonly<core.Pod>[]): Omit<ConditionInput, 'type'> {
  const message = `${available} of ${size} Pods are available.`
  if (available >= size) return { status: 'True', reason: 'Ready', message }
  // The status of a Pod contains the reason why a container does not run, for example CrashLoopBackOff.
  const waiting = pods.flatMap(({ status }) => status?.containerStatuses ?? []).map(({ state }) => state?.waiting)
  const { reason = 'Starting', message: why = '' } = waiting.find((state) => state?.message !== undefined) ?? {}
  return { status: 'False', reason, message: `${message} ${why}`.trim() }
}

function deploymentFor(object: DeepReadonly<Memcached>) {
  const labels = { app: 'memcached', [ownerLabel]: object.metadata.name }
  const container = {
    name: 'memcached',
    image: 'memcached:1.6-alpine',
    command: ['memcached', '-m=64', `--port=${object.spec.port}`],
    ports: [{ name: 'memcached', containerPort: object.spec.port, protocol: 'TCP' }],
  }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  return {
    metadata: { ...keyOf(object), labels, ownerReferences: [controllerReference(object)] },
    spec: { replicas: object.spec.size, selector: { matchLabels: labels }, template },
  }
}
