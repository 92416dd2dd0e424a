/** The condition `DisruptionTarget` of Pods that a controller is about to delete. */
import { pod as podType } from '../../../api/builtin.ts'
import { findCondition, formatTime } from '../../../api/conditions.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../api-types.ts'

interface Disruption {
  readonly reason: string
  readonly message: string
  /** The phase that the Pod gets together with the condition. Default: the phase is unchanged. */
  readonly phase?: 'Failed'
}

/**
 * Writes the condition `DisruptionTarget`. If the Pod has this condition with the same reason, nothing is written. Rejects with a conflict
 * if the Pod has been changed since it was read.
 */
export async function markDisrupted(
  { metadata, status }: ReadonlyPod,
  { reason, message, phase }: Disruption,
  { client, clock }: ReconcileContext,
): Promise<void> {
  const type = 'DisruptionTarget'
  const conditions = status?.conditions ?? []
  if (findCondition(conditions, type)?.reason === reason) return
  const { generation, resourceVersion } = metadata
  const lastTransitionTime = formatTime(clock.now())
  const condition = { type, observedGeneration: generation, status: 'True', reason, message, lastProbeTime: null, lastTransitionTime }
  const others = conditions.filter((one) => one.type !== type)
  // If another controller has changed the Pod, the resourceVersion makes the patch fail. Without the resourceVersion, the patch could
  // overwrite the conditions of the other controller.
  await client.patchStatus(podType, metadata, {
    metadata: { resourceVersion },
    status: { ...(phase !== undefined && { phase }), conditions: [...others, condition] } as object,
  })
}
