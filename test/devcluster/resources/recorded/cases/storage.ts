/** Requests for PersistentVolumes, PersistentVolumeClaims and StorageClasses. */
import type { Group } from '../group.ts'
import { each } from '../group.ts'

const modes = [undefined, [], ['ReadWriteOnce'], ['ReadOnlyMany', 'ReadWriteMany'], ['ReadWriteOncePod'], ['Other'], ['Other', 'Another']]

const claim: Group = {
  name: 'persistentvolumeclaims',
  type: { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  base: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  full: {
    metadata: { name: 'x' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
      selector: { matchLabels: { a: 'b' } },
      storageClassName: 'c',
      volumeMode: 'Block',
      volumeName: 'v',
    },
  },
  create: [
    ...each({
      spec: [undefined],
      'spec.accessModes': modes,
      'spec.resources': [
        undefined,
        {},
        { requests: {} },
        { requests: { storage: '0' } },
        { requests: { storage: '-1' } },
        { requests: { storage: 5 } },
      ],
      'spec.storageClassName': ['', 'a', 'A b'],
      'spec.volumeMode': ['', 'Block', 'Filesystem', 'Other'],
      'metadata.name': ['a.b', 'A'],
    }),
  ],
  states: [
    {
      from: { 'spec.storageClassName': 'c' },
      update: each({ 'metadata.labels': [{ a: 'b' }] }),
      updateStatus: [{ 'status.phase': 'Lost' }],
      remove: [{}],
    },
    {
      from: { 'spec.volumeName': 'v', 'spec.accessModes': ['ReadWriteMany', 'ReadWriteOnce'] },
      status: {
        'status.phase': 'Bound',
        'status.accessModes': ['ReadOnlyMany', 'ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOnce'],
        'status.capacity': { storage: '2Gi' },
      },
    },
    { from: { 'metadata.annotations': { 'volume.beta.kubernetes.io/storage-class': 'old' }, 'spec.volumeMode': 'Block' } },
  ],
}

const volume: Group = {
  name: 'persistentvolumes',
  type: { kind: 'PersistentVolume', plural: 'persistentvolumes', namespaced: false },
  base: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/p' } } },
  full: {
    metadata: { name: 'x' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      nfs: { server: 's', path: '/p' },
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'n', name: 'c' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'c',
      mountOptions: ['hard'],
      volumeMode: 'Block',
    },
  },
  create: each({
    spec: [undefined],
    'spec.accessModes': modes,
    'spec.capacity': [undefined, {}, { storage: '0' }, { storage: 5 }],
    'spec.persistentVolumeReclaimPolicy': ['', 'Delete', 'Recycle', 'Retain', 'Other'],
    'spec.hostPath': [undefined, { path: '/p', type: 'Directory' }],
    'spec.storageClassName': ['', 'a', 'A b'],
    'spec.volumeMode': ['', 'Block', 'Filesystem', 'Other'],
  }),
  states: [
    { update: each({ 'spec.capacity.storage': ['2Gi'], 'spec.persistentVolumeReclaimPolicy': ['Delete'] }), remove: [{}] },
    {
      from: {
        'spec.accessModes': ['ReadWriteOncePod'],
        'spec.claimRef': { namespace: 'n', name: 'c' },
        'spec.storageClassName': 's',
        'spec.persistentVolumeReclaimPolicy': 'Delete',
      },
      status: { 'status.phase': 'Failed', 'status.reason': 'Because' },
    },
    { from: { 'metadata.annotations': { 'volume.beta.kubernetes.io/storage-class': 'old' } }, status: { 'status.phase': 'Bound' } },
  ],
}

const storageClass: Group = {
  name: 'storageclasses',
  type: { group: 'storage.k8s.io', kind: 'StorageClass', plural: 'storageclasses', namespaced: false },
  base: { provisioner: 'a/b' },
  full: {
    metadata: { name: 'x' },
    provisioner: 'a/b',
    parameters: { a: 'b' },
    reclaimPolicy: 'Retain',
    mountOptions: ['hard'],
    allowVolumeExpansion: true,
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  create: each({
    provisioner: [undefined, ''],
    reclaimPolicy: ['', 'Delete', 'Retain', 'Recycle', 'Other'],
    volumeBindingMode: ['', 'Immediate', 'WaitForFirstConsumer', 'Other'],
  }),
  states: [
    {
      from: { parameters: { a: 'b' } },
      update: [
        {},
        ...each({
          provisioner: ['c/d'],
          parameters: [undefined, { a: 'c' }],
          reclaimPolicy: ['Retain', undefined],
          volumeBindingMode: ['WaitForFirstConsumer', undefined],
          allowVolumeExpansion: [true],
          mountOptions: [['hard']],
        }),
      ],
      remove: [{}],
    },
    {
      from: {
        'metadata.annotations': { 'storageclass.kubernetes.io/is-default-class': 'true' },
        allowVolumeExpansion: true,
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    },
    { from: { 'metadata.annotations': { 'storageclass.kubernetes.io/is-default-class': 'false' } } },
  ],
}

export const storage: readonly Group[] = [claim, volume, storageClass]
