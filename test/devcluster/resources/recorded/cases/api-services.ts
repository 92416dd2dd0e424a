/** Requests for APIServices. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Group } from '../group.ts'
import { each } from '../group.ts'

const base: JsonObject = {
  metadata: { name: 'v1.a.example.com' },
  spec: { group: 'a.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 },
}
const service = { namespace: 'default', name: 'a' }

export const apiServiceGroup: Group = {
  name: 'apiservices',
  type: { group: 'apiregistration.k8s.io', kind: 'APIService', plural: 'apiservices', namespaced: false },
  base,
  create: [
    ...each({
      'spec.group': [undefined, 'A', 'b.example.com'],
      'spec.version': [undefined, '1', 'v2'],
      'spec.groupPriorityMinimum': [undefined, 0, -1, 20_000, 20_001],
      'spec.versionPriority': [undefined, 0, 1000, 1001],
      'spec.service': [{}, service, { ...service, port: 0 }, { ...service, port: 70_000 }],
      'spec.caBundle': ['eA==', ''],
      'spec.insecureSkipTLSVerify': [true, false],
      spec: [undefined],
      status: [{ conditions: [{ type: 'Available', status: 'False' }] }],
      'metadata.name': ['a', 'a/b', undefined],
    }),
    { 'spec.service': service, 'spec.caBundle': 'eA==' },
    { 'spec.service': service, 'spec.caBundle': 'eA==', 'spec.insecureSkipTLSVerify': true },
    { 'spec.service': service, 'spec.insecureSkipTLSVerify': true },
  ],
}
