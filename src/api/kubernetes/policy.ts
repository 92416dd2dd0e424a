/**
 * The built-in types of the group `policy`: resource types such as `policy.podDisruptionBudget`, and static types such as
 * `policy.PodDisruptionBudget`.
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
