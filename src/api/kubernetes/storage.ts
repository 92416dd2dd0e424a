/**
 * The built-in types of the group `storage.k8s.io`: resource types such as `storage.storageClass`, and static types such as
 * `storage.StorageClass`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace storage {
  type StorageClass = ClusterObject<models.V1StorageClass, 'storage.k8s.io/v1', 'StorageClass'>
  type VolumeAttachment = ClusterObject<models.V1VolumeAttachment, 'storage.k8s.io/v1', 'VolumeAttachment'>
  type CSIDriver = ClusterObject<models.V1CSIDriver, 'storage.k8s.io/v1', 'CSIDriver'>
  type CSINode = ClusterObject<models.V1CSINode, 'storage.k8s.io/v1', 'CSINode'>
}

export const storage = {
  storageClass: clusterType<storage.StorageClass>('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses'),
  volumeAttachment: clusterType<storage.VolumeAttachment>('storage.k8s.io', 'v1', 'VolumeAttachment', 'volumeattachments'),
  csiDriver: clusterType<storage.CSIDriver>('storage.k8s.io', 'v1', 'CSIDriver', 'csidrivers'),
  csiNode: clusterType<storage.CSINode>('storage.k8s.io', 'v1', 'CSINode', 'csinodes'),
} as const
