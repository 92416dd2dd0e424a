/**
 * The built-in kinds of the group `autoscaling`. Each kind has a `ResourceType`, such as `autoscaling.horizontalPodAutoscaler`, and a
 * TypeScript type of its objects, such as `autoscaling.HorizontalPodAutoscaler`.
 */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace autoscaling {
  type HorizontalPodAutoscaler = NamespacedObject<models.V2HorizontalPodAutoscaler, 'autoscaling/v2', 'HorizontalPodAutoscaler'>
}

export const autoscaling = {
  horizontalPodAutoscaler: namespacedType<autoscaling.HorizontalPodAutoscaler>(
    'autoscaling',
    'v2',
    'HorizontalPodAutoscaler',
    'horizontalpodautoscalers',
  ),
} as const
