import { apps, controllerReference, core, defineController, hasFields, isControlledBy, keyOf, mergeConditions, predicates } from 'proreus'
import type { ConditionInput, DeepReadonly } from 'proreus'
import { memcached } from './kind.ts'
import type { Memcached } from './kind.ts'

const ownerLabel = 'cache.example.com/memcached'

export const controller = defineController(memcached, {
  owns: [apps.deployment],
  // A Pod belongs to a ReplicaSet, and says by a label whose it is in the end.
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
    const pods = cache.list(core.pod, { namespace: key.namespace, labelSelector: { matchLabels: { [ownerLabel]: key.name } } })
    const nodes = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined).map((pod) => pod.metadata.name)
    const available = availability(object.spec.size, isForeign ? undefined : (live?.status?.availableReplicas ?? 0))
    const at = { now: clock.now(), generation: object.metadata.generation }
    const status = {
      nodes: nodes.sort(),
      replicas: isForeign ? 0 : (live?.status?.replicas ?? 0),
      selector: `${ownerLabel}=${key.name}`,
      conditions: mergeConditions(object.status?.conditions, [{ type: 'Available', ...available }], at),
    }
    if (!hasFields(object.status, status)) await client.patchStatus(memcached, key, { status })
  },
})

function availability(size: number, available: number | undefined): Omit<ConditionInput, 'type'> {
  if (available === undefined) return { status: 'False', reason: 'NameConflict', message: 'The Deployment belongs to somebody else.' }
  const [status, reason] = available >= size ? (['True', 'Ready'] as const) : (['False', 'Starting'] as const)
  return { status, reason, message: `${available} of ${size} Pods are available.` }
}

function deploymentFor(object: DeepReadonly<Memcached>) {
  const labels = { app: 'memcached', [ownerLabel]: object.metadata.name }
  const container = {
    name: 'memcached',
    image: 'memcached:1.6-alpine',
    command: ['memcached', '-m=64', `--port=${object.spec.port}`],
    ports: [{ name: 'memcached', containerPort: object.spec.port, protocol: 'TCP' }],
  }
  return {
    metadata: { ...keyOf(object), labels, ownerReferences: [controllerReference(object)] },
    spec: {
      replicas: object.spec.size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  }
}
