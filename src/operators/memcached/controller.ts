/** The controller of Memcacheds: it creates and updates the Deployment of a Memcached, and reports the Pods in the status. */
import {
  apps,
  cacheView,
  core,
  defineController,
  findCondition,
  hasFields,
  isApiError,
  isControlledBy,
  keyOf,
  patchStatusIfChanged,
} from 'proreus'
import type { DeepReadonly, ReconcileContext, Result } from 'proreus'
import { deploymentFor, labelsOf, nameLabel } from './deployment.ts'
import type { Memcached, MemcachedKind } from './kind.ts'
import { podsOf, statusOf } from './status.ts'
import type { Observed } from './status.ts'

/**
 * The retry interval in milliseconds when a Deployment cannot be created or updated. A retry can only succeed after a user has removed the
 * cause.
 */
const refusedRetryMs = 30_000

/**
 * To save memory, the cache contains only ReplicaSets and Pods with the label of a Memcached. A cluster may have many other ReplicaSets and
 * Pods.
 */
const labelled = { labels: { matchExpressions: [{ key: nameLabel, operator: 'Exists' }] } } as const
const replicaSets = cacheView(apps.replicaSet, labelled)
const pods = cacheView(core.pod, labelled)

export interface MemcachedControllerOptions {
  readonly name: string
  readonly kind: MemcachedKind
  readonly image: string
}

export function memcachedController({ name, kind, image }: MemcachedControllerOptions) {
  return defineController(kind, {
    name,
    owns: [apps.deployment],
    // The Memcached does not own the ReplicaSets and Pods of its Deployment. `ownerOf` therefore reads the name of the Memcached from a
    // label.
    watches: [
      { type: replicaSets, map: ownerOf },
      { type: pods, map: ownerOf },
    ],
    rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['create', 'patch'] }],
    async reconcile(object: DeepReadonly<Memcached>, context: ReconcileContext): Promise<Result> {
      // When the Memcached is deleted, the garbage collector deletes the Deployment and its Pods.
      if (object.metadata.deletionTimestamp !== undefined) return
      const observed = await writeDeployment(object, image, context)
      await patchStatusIfChanged(context.client, kind, object, statusOf(object, observed, context.clock.now()))
      if (observed.degraded !== undefined) return { requeueAfterMs: refusedRetryMs }
    },
  })
}

function ownerOf({ metadata: { namespace, labels } }: Labelled) {
  return [{ namespace, name: labels?.[nameLabel] ?? '' }]
}

interface Labelled {
  readonly metadata: { readonly namespace: string; readonly labels?: Readonly<Record<string, string>> }
}

async function writeDeployment(object: DeepReadonly<Memcached>, image: string, context: ReconcileContext): Promise<Observed> {
  const { cache, client, events } = context
  const key = keyOf(object)
  const wanted = deploymentFor(object, image)
  let live = cache.get(apps.deployment, key)
  if (live !== undefined && !isControlledBy(live, object)) {
    const degraded = { reason: 'NameConflict', message: `The Deployment ${key.name} belongs to somebody else.` }
    warnOnce(object, degraded, context)
    return { deployment: undefined, pods: [], degraded }
  }
  if (!hasFields(live, wanted)) {
    const isNew = live === undefined
    try {
      live = await client.apply(apps.deployment, wanted)
    } catch (error) {
      if (!isApiError(error) || (error.statusCode !== 403 && error.statusCode !== 422)) throw error
      const degraded = { reason: 'DeploymentRefused', message: error.message }
      warnOnce(object, degraded, context)
      return { deployment: live, pods: podsIn(context, live), degraded }
    }
    const pods = `${object.spec.size} ${object.spec.size === 1 ? 'Pod' : 'Pods'}`
    events.event(object, 'Normal', isNew ? 'DeploymentCreated' : 'DeploymentUpdated', `Deployment ${key.name} with ${pods}`)
  }
  return { deployment: live, pods: podsIn(context, live) }
}

/**
 * Records a Warning if the status does not contain the problem yet. Changes of Pods trigger many reconciles, which must not repeat the
 * Event.
 */
function warnOnce(object: DeepReadonly<Memcached>, degraded: NonNullable<Observed['degraded']>, { events }: ReconcileContext): void {
  const known = findCondition(object.status?.conditions, 'Degraded')
  if (known?.status === 'True' && known.reason === degraded.reason && known.message === degraded.message) return
  events.event(object, 'Warning', degraded.reason, degraded.message)
}

function podsIn({ cache }: ReconcileContext, deployment: Observed['deployment']): Observed['pods'] {
  if (deployment === undefined) return []
  const { name, namespace } = keyOf(deployment)
  const own = { namespace, labelSelector: { matchLabels: labelsOf(name) } }
  return podsOf(deployment, cache.list(replicaSets, own), cache.list(pods, own))
}
