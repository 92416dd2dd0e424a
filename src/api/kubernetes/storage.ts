/** Kubernetes' own types of `storage.k8s.io`: `storage.storageClass`, `storage.StorageClass`. */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export type StorageClass = ClusterObject<models.V1StorageClass, 'storage.k8s.io/v1', 'StorageClass'>
export const storageClass = clusterType<StorageClass>('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses')

export type VolumeAttachment = ClusterObject<models.V1VolumeAttachment, 'storage.k8s.io/v1', 'VolumeAttachment'>
export const volumeAttachment = clusterType<VolumeAttachment>('storage.k8s.io', 'v1', 'VolumeAttachment', 'volumeattachments')

export type CSIDriver = ClusterObject<models.V1CSIDriver, 'storage.k8s.io/v1', 'CSIDriver'>
export const csiDriver = clusterType<CSIDriver>('storage.k8s.io', 'v1', 'CSIDriver', 'csidrivers')

export type CSINode = ClusterObject<models.V1CSINode, 'storage.k8s.io/v1', 'CSINode'>
export const csiNode = clusterType<CSINode>('storage.k8s.io', 'v1', 'CSINode', 'csinodes')
