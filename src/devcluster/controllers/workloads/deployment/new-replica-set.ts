/** Finds, creates and updates the new ReplicaSet of a Deployment. The new ReplicaSet has the Deployment's current Pod template. */
import { apps } from '../../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { jsonEqual } from '../../../../api/json.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import { controllerOf, controllerReference } from '../../../../api/owner-reference.ts'
import { isAlreadyExists } from '../../../../client/api-error.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import { templateHash } from '../hash.ts'
import { newReplicaSetAnnotations, revisionOf } from './annotations.ts'
import { newReplicaSetSize, sizeAnnotations } from './replica-counts.ts'

type Deployment = DeepReadonly<apps.Deployment>
type ReplicaSet = DeepReadonly<apps.ReplicaSet>

/** A ReplicaSet and its Pods have the same value of this label. Each ReplicaSet of a Deployment has a different value. */
const hashLabel = 'pod-template-hash'
const maxNameLength = 253

/** Returns true when the ReplicaSet has the Pod template of the Deployment. The label `pod-template-hash` is ignored. */
export function hasTemplateOf(deployment: Deployment, { spec }: ReplicaSet): boolean {
  const { metadata = {}, ...rest } = spec?.template ?? {}
  const { [hashLabel]: _hash, ...labels } = metadata.labels ?? {}
  const template = { ...rest, metadata: { ...metadata, labels } }
  return jsonEqual(withLabels(deployment), template)
}

function withLabels({ spec }: Deployment): object {
  const { metadata = {}, ...rest } = spec?.template ?? {}
  return { ...rest, metadata: { ...metadata, labels: metadata.labels ?? {} } }
}

/** Returns the lowest revision that is higher than the revisions of all old ReplicaSets. */
function nextRevision(old: readonly ReplicaSet[]): number {
  return Math.max(0, ...old.map(revisionOf)) + 1
}

/** Updates the annotations and `minReadySeconds` of the new ReplicaSet if they are outdated. Resolves with the current ReplicaSet. */
export async function updateNewReplicaSet(
  deployment: Deployment,
  newest: ReplicaSet,
  old: readonly ReplicaSet[],
  { client }: ReconcileContext,
): Promise<ReplicaSet> {
  const current = newest.metadata.annotations ?? {}
  const wanted = newReplicaSetAnnotations(deployment, current, nextRevision(old))
  const { minReadySeconds = 0 } = deployment.spec ?? {}
  if (jsonEqual(current, wanted) && (newest.spec?.minReadySeconds ?? 0) === minReadySeconds) return newest
  return client.patch(apps.replicaSet, newest.metadata, { metadata: { annotations: wanted }, spec: { minReadySeconds } })
}

/** Thrown when the name of the new ReplicaSet belongs to an existing ReplicaSet that has another Pod template or another controller. */
export class HashCollision extends Error {
  override readonly name = 'HashCollision'
}

/**
 * Creates the new ReplicaSet, or resolves with the ReplicaSet that an earlier reconcile has created. The name contains a hash of the Pod
 * template, so the same ReplicaSet cannot be created twice.
 *
 * @throws {HashCollision} when the name belongs to an existing ReplicaSet that has another Pod template or another controller.
 * @throws the API server's error when a request fails.
 */
export async function createNewReplicaSet(
  deployment: Deployment,
  old: readonly ReplicaSet[],
  { client, events }: ReconcileContext,
): Promise<ReplicaSet> {
  const replicaSet = newReplicaSet(deployment, old)
  try {
    const created = await client.create(apps.replicaSet, replicaSet)
    const { replicas = 0 } = created.spec ?? {}
    if (replicas > 0)
      events.event(deployment, 'Normal', 'ScalingReplicaSet', `Scaled up replica set ${created.metadata.name} from 0 to ${replicas}`)
    return created
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const existing = await client.get(apps.replicaSet, replicaSet.metadata)
    if (controllerOf(existing)?.uid === deployment.metadata.uid && hasTemplateOf(deployment, existing)) return existing
    throw new HashCollision(`the ReplicaSet ${existing.metadata.name} has another Pod template`, { cause: error })
  }
}

/** Returns the name of the ReplicaSet with the current Pod template, e.g. `web-7d4b9c8f6d`. */
export function newReplicaSetName(deployment: Deployment): string {
  const hash = hashOf(deployment)
  return `${deployment.metadata.name.slice(0, maxNameLength - hash.length - 1)}-${hash}`
}

function newReplicaSet(deployment: Deployment, old: readonly ReplicaSet[]): ObjectInput<apps.ReplicaSet> & { metadata: { name: string } } {
  const { selector, template, minReadySeconds = 0 } = deployment.spec!
  const hash = hashOf(deployment)
  const labels = { ...template.metadata?.labels, [hashLabel]: hash }
  const spec: object = {
    replicas: newReplicaSetSize(deployment, old, 0),
    minReadySeconds,
    selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
    template: { ...template, metadata: { ...template.metadata, labels } },
  }
  return {
    metadata: {
      name: newReplicaSetName(deployment),
      namespace: deployment.metadata.namespace!,
      labels,
      annotations: { ...newReplicaSetAnnotations(deployment, {}, nextRevision(old)), ...sizeAnnotations(deployment) },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: spec as NonNullable<apps.ReplicaSet['spec']>,
  }
}

function hashOf({ spec, status }: Deployment): string {
  return templateHash(spec?.template, status?.collisionCount ?? 0)
}
