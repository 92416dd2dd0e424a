/**
 * Checks the PersistentVolumeClaims of a Pod when the Pod is scheduled, and starts to bind the unbound claims
 * (k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding).
 */
import { core } from '../../../api/kubernetes/core.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyNode, ReadonlyPod } from '../api-types.ts'
import { claimNamesOf } from './pod-claims.ts'
import { noProvisioner, storageClassOf, waitsForConsumer } from './storage-class.ts'
import type { Claim, Volume } from './volume-match.ts'
import { findVolume, isReachable } from './volume-match.ts'
import { bindCompleted, changeClaim, reserve, selectedNode } from './writes.ts'

type Reader = { readonly cache: CacheReader }

/**
 * The claims of a Pod, or a `problem` with one of the claims. If there is a problem, the Pod fits on no node. `delayed` contains the
 * unbound claims whose StorageClass has the volumeBindingMode WaitForFirstConsumer.
 */
export type PodClaims = { readonly problem: string } | { readonly bound: readonly Claim[]; readonly delayed: readonly Claim[] }

/**
 * Returns the claims of a Pod. Returns a problem if a claim is missing, lost or being deleted. Also returns a problem if an unbound claim
 * has a `volumeName`, or if its StorageClass does not have the volumeBindingMode WaitForFirstConsumer.
 */
export function claimsOfPod(pod: ReadonlyPod, context: Reader): PodClaims {
  const claims: Claim[] = []
  for (const name of new Set(claimNamesOf(pod))) {
    const claim = context.cache.get(core.persistentVolumeClaim, { namespace: pod.metadata.namespace, name })
    const quoted = `persistentvolumeclaim "${name}"`
    if (claim === undefined) return { problem: `${quoted} not found` }
    if (claim.status?.phase === 'Lost')
      return { problem: `${quoted} bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"` }
    if (claim.metadata.deletionTimestamp !== undefined) return { problem: `${quoted} is being deleted` }
    claims.push(claim)
  }
  const isBound = ({ metadata, spec }: Claim): boolean => !!spec?.volumeName && metadata.annotations?.[bindCompleted] !== undefined
  const open = claims.filter((claim) => !isBound(claim))
  const isDelayed = (claim: Claim): boolean => !claim.spec?.volumeName && waitsForConsumer(storageClassOf(claim, context))
  if (!open.every(isDelayed)) return { problem: 'pod has unbound immediate PersistentVolumeClaims' }
  return { bound: claims.filter(isBound), delayed: open }
}

/** Returns the reason why a node cannot provide the volumes of a Pod. Returns undefined if the node can provide the volumes. */
export function volumeMisfit(
  { bound, delayed }: Exclude<PodClaims, { problem: string }>,
  node: ReadonlyNode,
  context: Reader,
): string | undefined {
  const volumes = bound.map(({ spec }) => context.cache.get(core.persistentVolume, { name: spec?.volumeName ?? '' }))
  if (volumes.includes(undefined)) return 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'
  if (volumes.some((volume) => !isReachable(volume!, node))) return "node(s) didn't match PersistentVolume's node affinity"
  const found = volumesFor(delayed, node, context)
  const isAvailable = (claim: Claim): boolean => found.has(claim) || storageClassOf(claim, context)?.provisioner !== noProvisioner
  return delayed.every(isAvailable) ? undefined : "node(s) didn't find available persistent volumes to bind"
}

/** Finds an existing volume for each claim. A claim without a suitable volume is absent from the map. */
function volumesFor(claims: readonly Claim[], node: ReadonlyNode, { cache }: Reader): ReadonlyMap<Claim, Volume> {
  const found = new Map<Claim, Volume>()
  for (const claim of claims) {
    const taken = new Set(found.values())
    const free = cache.list(core.persistentVolume).filter((volume) => !taken.has(volume))
    const volume = findVolume(claim, free, { node })
    if (volume !== undefined) found.set(claim, volume)
  }
  return found
}

/**
 * Starts to bind the delayed claims of a Pod to volumes that `node` can reach. If a suitable volume exists for a claim, reserves the
 * volume. If no suitable volume exists, writes the name of the node to the claim's annotation for the provisioner. The controller of claims
 * completes the binding.
 */
export async function bindDelayed(claims: readonly Claim[], node: ReadonlyNode, context: ReconcileContext): Promise<void> {
  const found = volumesFor(claims, node, context)
  for (const claim of claims) {
    const volume = found.get(claim)
    if (volume !== undefined) await reserve(volume, claim, context)
    else if (claim.metadata.annotations?.[selectedNode] === undefined) {
      await changeClaim(claim, { metadata: { annotations: { [selectedNode]: node.metadata.name } } }, context)
    }
  }
}
