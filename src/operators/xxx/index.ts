/** The operator that reconciles Xxxes. */
import { accessReviewRule, defineController, defineOperator, defineWebhook, keyOf, version } from 'proreus'
import type { Operator } from 'proreus'
import { finalizeXxx } from './finalize.ts'
import { jobsByController, jobsByXxx, podsByXxx, xxxesByBinary, xxxesByJob, xxxesByUid, xxxPods } from './indexes.ts'
import { jobView } from './job-view.ts'
import { xxx } from './kind.ts'
import { xxxUidOf } from './labels.ts'
import type { XxxOptions } from './options.ts'
import { reconcileXxx } from './reconcile.ts'
import { defaultXxx, finalizer, validatorOf } from './webhook.ts'

export function xxxOperatorWith(options: XxxOptions): Operator {
  return defineOperator({
    name: 'xxx',
    version,
    kinds: [xxx],
    webhooks: [
      defineWebhook(xxx, {
        default: defaultXxx,
        validateInCluster: validatorOf(options),
        reads: [xxx],
        indexes: [xxxesByJob, xxxesByBinary],
        rbac: [accessReviewRule],
      }),
    ],
    controllers: [
      defineController(xxx, {
        owns: [jobView],
        watches: [
          // `owns` covers only Jobs whose controller reference points to an Xxx. This watch covers all Jobs with the label of an Xxx,
          // because clean-up Jobs have the label, but no owner reference. The watch also covers all Jobs with the name of a build Job or
          // clean-up Job of an Xxx, because a Job that does not belong to the Xxx may have this name.
          {
            type: jobView,
            map: ({ metadata }, { cache }) => {
              const { namespace, name } = metadata
              const named = cache.list(xxx, { namespace, index: [xxxesByJob, name] })
              const labelled = cache.list(xxx, { namespace, index: [xxxesByUid, xxxUidOf({ metadata }) ?? ''] })
              return [...named, ...labelled].map(keyOf)
            },
          },
          {
            type: xxxPods,
            map: (pod, { cache }) =>
              cache.list(xxx, { namespace: pod.metadata.namespace, index: [xxxesByUid, xxxUidOf(pod) ?? ''] }).map(keyOf),
          },
        ],
        indexes: [jobsByController, jobsByXxx, podsByXxx, xxxesByJob, xxxesByUid],
        workers: 4,
        rbac: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] }],
        reconcile: (object, context) => reconcileXxx(object, options, context),
        finalizer: { name: finalizer, finalize: (object, context) => finalizeXxx(object, options, context) },
      }),
    ],
  })
}
