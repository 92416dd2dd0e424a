/**
 * The life of a HorizontalPodAutoscaler: the steps that create, change and delete it. kube-controller-manager processes an autoscaler every
 * 15 seconds.
 */
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import { autoscaling } from '../../../../../src/api/kubernetes/autoscaling.ts'
import type { Life } from '../life.ts'
import { step } from '../life.ts'
import { selector, template } from './objects.ts'

export const autoscalerLives: readonly Life[] = [
  {
    name: 'autoscaler',
    steps: [
      step('deployment', (stage) =>
        stage.create(apps.deployment, { metadata: { name: 'web' }, spec: { replicas: 1, selector, template: template('1') } }),
      ),
      step(
        'create',
        (stage) =>
          stage.create(autoscaling.horizontalPodAutoscaler, {
            metadata: { name: 'web' },
            spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, minReplicas: 2, maxReplicas: 4 },
          }),
        (stage) => {
          const conditions = stage.see(autoscaling.horizontalPodAutoscaler, 'web', 'status.conditions')
          return Array.isArray(conditions) && conditions.length >= 2
        },
      ),
      step('delete', (stage) => stage.delete(autoscaling.horizontalPodAutoscaler, 'web')),
    ],
  },
]
