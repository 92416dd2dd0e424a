/** The operator for MyPod. */
import { pod } from '../../api/builtin.ts'
import { controller } from '../../controller/builder.ts'
import { defineOperator } from '../../manager/operator.ts'
import { accessReviewRule } from '../../webhook/access.ts'
import { webhook } from '../../webhook/definition.ts'
import { mypod } from './kind.ts'
import { reconcileMyPod } from './reconciler.ts'
import { admitMyPod, validateMyPod } from './webhook.ts'

export const mypodOperator = defineOperator({
  name: 'mypod',
  kinds: [mypod],
  webhooks: [
    webhook(mypod, {
      validate: validateMyPod,
      admit: admitMyPod,
      rbac: [accessReviewRule],
    }),
  ],
  controllers: [
    controller(mypod, {
      reconcile: reconcileMyPod,
      owns: [pod],
      workers: 4,
      rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'patch'] }],
    }),
  ],
})
