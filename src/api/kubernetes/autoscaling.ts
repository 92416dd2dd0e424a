/** Kubernetes' own types of `autoscaling`: `autoscaling.horizontalPodAutoscaler`, `autoscaling.HorizontalPodAutoscaler`. */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export type HorizontalPodAutoscaler = NamespacedObject<models.V2HorizontalPodAutoscaler, 'autoscaling/v2', 'HorizontalPodAutoscaler'>
export const horizontalPodAutoscaler = namespacedType<HorizontalPodAutoscaler>(
  'autoscaling',
  'v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
