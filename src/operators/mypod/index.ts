/** The operator for MyPod. */
import { pod } from '../../api/builtin.ts'
import { version } from '../../api/version.ts'
import { defineController } from '../../controller/builder.ts'
import { defineOperator } from '../../manager/operator.ts'
import { accessReviewRule } from '../../webhook/access.ts'
import { defineWebhook } from '../../webhook/definition.ts'
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
      owns: [pod],
      workers: 4,
      rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'patch'] }],
    }),
  ],
})
