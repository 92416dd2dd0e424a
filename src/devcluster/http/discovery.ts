/** Discovery: which groups, versions and types there are, in the legacy documents and in the aggregated ones. */
import { createHash } from 'node:crypto'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo, SubresourceInfo } from '../resources/resource-info.ts'

/** A document with its entity tag. */
export interface Document {
  readonly text: string
  readonly etag: string
}

/** Documents made from the catalog, each kept until the catalog changes. */
export class Discovery {
  readonly #catalog: Catalog
  readonly #documents = new Map<string, Document>()
  #generation = -1

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** `/api` with the address under which the client reached the server. */
  coreVersions(address: string): JsonObject {
    const versions = this.#groups().find(({ name }) => name === '')?.versions ?? []
    return {
      kind: 'APIVersions',
      versions: [...versions],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
    }
  }

  /** `/apis` */
  groupList(): Document {
    return this.#document('groups', () => {
      const groups = this.#groups().filter(({ name }) => name !== '')
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupJson) }
    })
  }

  /** `/apis/GROUP` */
  group(name: string): JsonObject | undefined {
    const group = this.#groups().find((candidate) => candidate.name === name)
    return group === undefined || name === '' ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupJson(group) }
  }

  /** `/api/VERSION`, `/apis/GROUP/VERSION` */
  resourceList(group: string, version: string): Document | undefined {
    const rows = this.#catalog.ofGroupVersion(group, version)
    if (rows.length === 0) return undefined
    return this.#document(`resources ${group}/${version}`, () => ({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: apiVersionOf({ group, version }),
      resources: rows.flatMap(resourceJson),
    }))
  }

  /** `/api` (`core`) and `/apis` as one document with everything below them. */
  aggregated(core: boolean, version: 'v2' | 'v2beta1'): Document {
    return this.#document(`aggregated ${core} ${version}`, () => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: this.#groups()
        .filter(({ name }) => (name === '') === core)
        .map((group) => ({
          metadata: { ...(core ? {} : { name: group.name }), creationTimestamp: null },
          versions: group.versions.map((groupVersion) => ({
            version: groupVersion,
            resources: this.#catalog.ofGroupVersion(group.name, groupVersion).map(aggregatedResource),
            freshness: 'Current',
          })),
        })),
    }))
  }

  /** All paths of discovery, for the index at `/`. */
  paths(): readonly string[] {
    const groups = this.#groups().flatMap(({ name, versions }) =>
      name === ''
        ? ['/api', ...versions.map((version) => `/api/${version}`)]
        : [`/apis/${name}`, ...versions.map((version) => `/apis/${name}/${version}`)],
    )
    return ['/apis', ...groups].sort()
  }

  /** Kubernetes' own groups come first: where two types have the same name, kubectl takes the first. */
  #groups(): readonly { name: string; versions: readonly string[] }[] {
    const own = new Set(this.#catalog.all().flatMap((info) => (info.custom ? [] : [info.group])))
    const groups = this.#catalog.groups()
    return [...groups.filter(({ name }) => own.has(name)), ...groups.filter(({ name }) => !own.has(name))]
  }

  #document(key: string, make: () => JsonObject): Document {
    if (this.#generation !== this.#catalog.generation) {
      this.#documents.clear()
      this.#generation = this.#catalog.generation
    }
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const text = JSON.stringify(make())
    const document = { text, etag: `"${createHash('sha512').update(text).digest('hex').toUpperCase()}"` }
    this.#documents.set(key, document)
    return document
  }
}

function groupJson({ name, versions }: { name: string; versions: readonly string[] }): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: entries, preferredVersion: entries[0]! }
}

function resourceJson(info: ResourceInfo): JsonObject[] {
  return [
    {
      name: info.plural,
      singularName: info.singular,
      namespaced: info.namespaced,
      kind: info.kind,
      verbs: [...info.verbs],
      ...names(info),
      ...(info.review === undefined ? { storageVersionHash: storageVersionHash(info) } : {}),
    },
    ...Object.entries(info.subresources).map(([name, sub]) => ({
      name: `${info.plural}/${name}`,
      singularName: '',
      namespaced: info.namespaced,
      ...(sub.group === undefined ? {} : { group: sub.group }),
      ...(sub.version === undefined ? {} : { version: sub.version }),
      kind: sub.kind,
      verbs: [...sub.verbs],
    })),
  ]
}

function aggregatedResource(info: ResourceInfo): JsonObject {
  const subresources = Object.entries(info.subresources).map(([subresource, sub]) => ({
    subresource,
    responseKind: responseKind(info, sub),
    verbs: [...sub.verbs],
  }))
  return {
    resource: info.plural,
    responseKind: { group: info.group, version: info.version, kind: info.kind },
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: [...info.verbs],
    ...names(info),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}

function responseKind(info: ResourceInfo, { kind, group, version }: SubresourceInfo): JsonObject {
  return { group: group ?? info.group, version: version ?? info.version, kind }
}

function names({ shortNames, categories }: ResourceInfo): JsonObject {
  return {
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  }
}

/** Tells clients whether two versions are stored alike (k8s.io/apiserver `pkg/storageversion`). */
export function storageVersionHash({ group, storageVersion, kind }: Pick<ResourceInfo, 'group' | 'storageVersion' | 'kind'>): string {
  return createHash('sha256').update(`${group}/${storageVersion}/${kind}`).digest().subarray(0, 8).toString('base64')
}
