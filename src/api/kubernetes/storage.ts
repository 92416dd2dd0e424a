/**
 * The built-in kinds of the group `storage.k8s.io`. Each kind has a `ResourceType`, such as `storage.storageClass`, and a TypeScript type
 * of its objects, such as `storage.StorageClass`.
 */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export declare namespace storage {
  type StorageClass = ClusterObject<models.V1StorageClass, 'storage.k8s.io/v1', 'StorageClass'>
  type VolumeAttachment = ClusterObject<models.V1VolumeAttachment, 'storage.k8s.io/v1', 'VolumeAttachment'>
  type CSIDriver = ClusterObject<models.V1CSIDriver, 'storage.k8s.io/v1', 'CSIDriver'>
  type CSINode = ClusterObject<models.V1CSINode, 'storage.k8s.io/v1', 'CSINode'>
  type CSIStorageCapacity = NamespacedObject<models.V1CSIStorageCapacity, 'storage.k8s.io/v1', 'CSIStorageCapacity'>
  type VolumeAttributesClass = ClusterObject<models.V1VolumeAttributesClass, 'storage.k8s.io/v1', 'VolumeAttributesClass'>
}

export const storage = {
  storageClass: clusterType<storage.StorageClass>('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses'),
  volumeAttachment: clusterType<storage.VolumeAttachment>('storage.k8s.io', 'v1', 'VolumeAttachment', 'volumeattachments'),
  csiDriver: clusterType<storage.CSIDriver>('storage.k8s.io', 'v1', 'CSIDriver', 'csidrivers'),
  csiNode: clusterType<storage.CSINode>('storage.k8s.io', 'v1', 'CSINode', 'csinodes'),
  csiStorageCapacity: namespacedType<storage.CSIStorageCapacity>('storage.k8s.io', 'v1', 'CSIStorageCapacity', 'csistoragecapacities'),
  volumeAttributesClass: clusterType<storage.VolumeAttributesClass>(
    'storage.k8s.io',
    'v1',
    'VolumeAttributesClass',
    'volumeattributesclasses',
  ),
} as const
