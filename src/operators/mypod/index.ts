/** The operator that reconciles MyPods. */
import { accessReviewRule, core, defineController, defineOperator, defineWebhook, version } from 'proreus'
import { mypod } from './kind.ts'
import { reconcileMyPod } from './reconciler.ts'
import { validateMyPodInCluster, validateMyPod } from './webhook.ts'

export const mypodOperator = defineOperator({
  name: 'mypod',
  version,
  kinds: [mypod],
  webhooks: [
    defineWebhook(mypod, {
      validate: validateMyPod,
      validateInCluster: validateMyPodInCluster,
      rbac: [accessReviewRule],
    }),
  ],
  controllers: [
    defineController(mypod, {
      reconcile: reconcileMyPod,
      owns: [core.pod],
      workers: 4,
      rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'patch'] }],
    }),
  ],
})
