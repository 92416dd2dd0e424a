/** The ReplicaSet with the Pod template of a Deployment: which one it is, its creation, and its annotations. */
import { apps } from '../../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { canonicalJson, jsonEqual } from '../../../../api/json.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import { controllerOf, controllerReference } from '../../../../api/owner-reference.ts'
import { isAlreadyExists } from '../../../../client/api-error.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import { newReplicaSetAnnotations, revisionOf } from './annotations.ts'
import { newReplicaSetSize, sizeAnnotations } from './replica-counts.ts'

type Deployment = DeepReadonly<apps.Deployment>
type ReplicaSet = DeepReadonly<apps.ReplicaSet>

/** The label that distinguishes the Pods of a Deployment's ReplicaSets. */
const hashLabel = 'pod-template-hash'
/** The characters of a hash: no vowels, and nothing that looks like one (k8s.io/apimachinery/pkg/util/rand: SafeEncodeString). */
const hashAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
/** Maximum length of the name of a ReplicaSet. */
const maxNameLength = 253

/** Returns true when the Pod template of the ReplicaSet is that of the Deployment. */
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

/** Returns the revision that the new ReplicaSet must have at least. */
function nextRevision(old: readonly ReplicaSet[]): number {
  return Math.max(0, ...old.map(revisionOf)) + 1
}

/** Brings the annotations and `minReadySeconds` of the new ReplicaSet up to date. */
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

/** A ReplicaSet of another template has the name that the new ReplicaSet would get: their hashes are the same. */
export class HashCollision extends Error {
  override readonly name = 'HashCollision'
}

/**
 * Creates the new ReplicaSet. Its name contains a hash of the Pod template, so that a repeated creation finds the first one.
 *
 * @throws {HashCollision} when the name is taken by another ReplicaSet.
 * @throws the error of the API server.
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

/**
 * Returns a hash of a Pod template of about ten characters. kube-controller-manager hashes Go's memory layout of the template, so its
 * hashes are others; only their form is the same.
 */
function hashOf({ spec, status }: Deployment): string {
  const collisions = status?.collisionCount ?? 0
  const text = canonicalJson(spec?.template) + (collisions > 0 ? String(collisions) : '')
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return [...String(hash)].map((digit) => hashAlphabet[digit.charCodeAt(0) % hashAlphabet.length]).join('')
}
