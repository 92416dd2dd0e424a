/** Resources, request contexts and attributes for tests of the admission plugins. */
import type { AdmissionAttributes } from '../../../src/devcluster/admission/admission.ts'
import type { RequestContext } from '../../../src/devcluster/apimachinery/request-context.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { storedVerbs } from '../../../src/devcluster/rest/subresource.ts'

export function infoOf(group: string, version: string, kind: string, plural: string, more: Partial<ResourceInfo> = {}): ResourceInfo {
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: storedVerbs,
    storageKey: `${group}/${plural}`,
    storageVersion: version,
    subresources: {},
    custom: false,
    strategy: {},
    columns: [],
    selectableFields: () => ({}),
    ...more,
  }
}

export const pods = infoOf('', 'v1', 'Pod', 'pods')
export const nodes = infoOf('', 'v1', 'Node', 'nodes', { namespaced: false })
export const namespaces = infoOf('', 'v1', 'Namespace', 'namespaces', { namespaced: false })
export const custom = {
  v1: infoOf('example.com', 'v1', 'Thing', 'things', { custom: true }),
  v2: infoOf('example.com', 'v2', 'Thing', 'things', { custom: true, storageVersion: 'v1' }),
}

export function contextOf(more: Partial<RequestContext> = {}): RequestContext {
  return {
    user: { username: 'jane', groups: ['devs'] },
    dryRun: false,
    fieldManager: '',
    fieldValidation: 'Warn',
    userAgent: 'test',
    warn: () => undefined,
    signal: new AbortController().signal,
    ...more,
  }
}

/** Returns the attributes of a CREATE request in the namespace `default`. `more` overrides attributes. */
export function attributesOf(info: ResourceInfo, more: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  return {
    info,
    subresource: '',
    operation: 'CREATE',
    name: 'a',
    ...(info.namespaced ? { namespace: 'default' } : {}),
    object: { apiVersion: info.group === '' ? info.version : `${info.group}/${info.version}`, kind: info.kind, metadata: { name: 'a' } },
    context: contextOf(),
    ...more,
  }
}
