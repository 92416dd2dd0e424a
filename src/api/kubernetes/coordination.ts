/**
 * The built-in kinds of the group `coordination.k8s.io`. Each kind has a `ResourceType`, such as `coordination.lease`, and a TypeScript
 * type of its objects, such as `coordination.Lease`.
 */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace coordination {
  type Lease = NamespacedObject<models.V1Lease, 'coordination.k8s.io/v1', 'Lease'>
}

export const coordination = {
  lease: namespacedType<coordination.Lease>('coordination.k8s.io', 'v1', 'Lease', 'leases'),
} as const
