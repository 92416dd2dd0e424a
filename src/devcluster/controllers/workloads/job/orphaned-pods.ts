/**
 * Removes the finalizer of Pods without a Job, and of Pods whose Job has finished. The Job controller does not remove the finalizer of such
 * Pods. The API server removes a deleted Pod only after the finalizer has been removed (k8s.io/kubernetes/pkg/controller/job:
 * handleSingleOrphanPod).
 */
import { pod as podType } from '../../../../api/builtin.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import { controllerOf } from '../../../../api/owner-reference.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { podsByController } from '../dependents.ts'
import { retryRefused } from '../../retry-refused.ts'
import { isFinished } from './outcome.ts'
import { isOfJob, isTracked, removeFinalizer } from './pods.ts'

export function orphanedPodController(): ControllerDefinition {
  return defineController(podType, {
    name: 'job-orphaned-pods',
    resyncPeriodMs: 0,
    watches: [
      {
        type: batch.job,
        map: ({ metadata }, { cache }) => {
          const { namespace, uid } = metadata
          return cache
            .list(podType, { namespace, index: [podsByController, uid] })
            .filter(isTracked)
            .map((pod) => pod.metadata)
        },
      },
    ],
    indexes: [podsByController],
    reconcile: retryRefused(releasePod),
  })
}

async function releasePod(pod: ReadonlyPod, context: ReconcileContext): Promise<void> {
  if (!isTracked(pod)) return
  const owner = controllerOf(pod)
  if (owner !== undefined && !isOfJob(pod)) return
  const { namespace } = pod.metadata
  const job = owner === undefined ? undefined : context.cache.get(batch.job, { namespace, name: owner.name })
  if (job === undefined || job.metadata.uid !== owner?.uid || isFinished(job)) await removeFinalizer(pod, context)
}
