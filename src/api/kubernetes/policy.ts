/**
 * The built-in kinds of the group `policy`. Each kind has a `ResourceType`, such as `policy.podDisruptionBudget`, and a TypeScript type of
 * its objects, such as `policy.PodDisruptionBudget`.
 */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace policy {
  type PodDisruptionBudget = NamespacedObject<models.V1PodDisruptionBudget, 'policy/v1', 'PodDisruptionBudget'>
}

export const policy = {
  podDisruptionBudget: namespacedType<policy.PodDisruptionBudget>('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
} as const
