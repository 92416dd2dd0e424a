/** Computes how many Pods should exist according to their controllers (k8s.io/kubernetes/pkg/controller/disruption: getExpectedScale). */
import { apps } from '../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import type { OwnerReference } from '../../../api/object.ts'
import { controllerOf, refersTo } from '../../../api/owner-reference.ts'
import { isNotFound } from '../../../client/api-error.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { readScale, referencedType } from '../scale.ts'
import type { TypeSource } from '../type-source.ts'

type Reference = DeepReadonly<OwnerReference>

export interface ExpectedPods {
  /** The sum of the replicas of all controllers. */
  readonly count: number
  /** True when at least one Pod has no controller reference. */
  readonly hasUnmanaged: boolean
}

interface Replicas {
  readonly uid: string
  readonly replicas: number
}

/** The error for a Pod whose controller does not exist, or whose controller has a type that is not served. */
export class UnknownScale extends Error {
  override readonly name = 'UnknownScale'
}

/**
 * Adds up the replicas of the controllers of the Pods. For the ReplicaSets of a Deployment, the replicas of the Deployment are added once
 * instead.
 *
 * @throws {UnknownScale} when a controller does not exist, or its type is not served.
 * @throws {NoScale} when the type of a controller has no scale subresource.
 */
export async function expectedPods(pods: readonly ReadonlyPod[], source: TypeSource, context: ReconcileContext): Promise<ExpectedPods> {
  const scales = new Map<string, number>()
  const known = new Set<string>()
  let hasUnmanaged = false
  for (const pod of pods) {
    const reference = controllerOf(pod)
    if (reference === undefined) hasUnmanaged = true
    if (reference === undefined || known.has(reference.uid)) continue
    const scale = await scaleOf(reference, pod.metadata.namespace!, source, context)
    if (scale === undefined) throw new UnknownScale(`found no controllers for pod "${pod.metadata.name}"`)
    known.add(reference.uid)
    scales.set(scale.uid, scale.replicas)
  }
  return { count: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), hasUnmanaged }
}

async function scaleOf(
  reference: Reference,
  namespace: string,
  source: TypeSource,
  context: ReconcileContext,
): Promise<Replicas | undefined> {
  if (!refersTo(reference, apps.replicaSet)) return scaleSubresource(reference, namespace, source, context)
  const key = { namespace, name: reference.name }
  const replicaSet = context.cache.get(apps.replicaSet, key)
  if (replicaSet?.metadata.uid !== reference.uid) return scaleSubresource(reference, namespace, source, context)
  const owner = controllerOf(replicaSet)
  if (owner === undefined || !refersTo(owner, apps.deployment)) return { uid: reference.uid, replicas: replicaSet.spec?.replicas ?? 1 }
  const deployment = context.cache.get(apps.deployment, { namespace, name: owner.name })
  if (deployment?.metadata.uid !== owner.uid) return scaleSubresource(reference, namespace, source, context)
  return { uid: owner.uid, replicas: deployment.spec?.replicas ?? 1 }
}

/** Reads the replicas of an object of any type from its scale subresource. Resolves with undefined when the object does not exist. */
async function scaleSubresource(
  reference: Reference,
  namespace: string,
  source: TypeSource,
  { client }: ReconcileContext,
): Promise<Replicas | undefined> {
  const { apiVersion, kind, name, uid } = reference
  const type = referencedType(reference, source)
  if (type === undefined) throw new UnknownScale(`no matches for kind "${kind}" in version "${apiVersion}"`)
  try {
    const { metadata, spec } = await readScale(client, type, { namespace, name })
    return metadata.uid === uid ? { uid, replicas: spec?.replicas ?? 0 } : undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
