/** Discovery of groups, versions and types: the legacy documents and the aggregated documents. */
import { createHash } from 'node:crypto'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Catalog } from '../resources/catalog.ts'
import { rankOf } from '../resources/group-priorities.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { SubresourceInfo } from '../rest/subresource.ts'
import { withContainerSubresources } from './streams/container-subresources.ts'

/** A document as JSON, with its ETag. */
export interface Document {
  readonly text: string
  readonly etag: string
}

/** Builds the documents from the catalog. The aggregated documents are cached until the catalog changes. */
export class Discovery {
  readonly #catalog: Catalog
  readonly #documents = new Map<boolean, Document>()
  #generation = -1

  readonly #hasContainers: boolean

  /** @param hasContainers true to list the subresources that need containers */
  constructor(catalog: Catalog, hasContainers = false) {
    this.#catalog = catalog
    this.#hasContainers = hasContainers
  }

  /** Returns the document for `/api`. `address` is the address at which the client has reached the server. */
  coreVersions(address: string): JsonObject {
    const versions = this.#groups().find(({ name }) => name === '')?.versions ?? []
    return {
      kind: 'APIVersions',
      versions: [...versions],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
    }
  }

  /** Returns the document for `/apis`. */
  groupList(): JsonObject {
    const groups = this.#groups().filter(({ name }) => name !== '')
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupJson) }
  }

  /** Returns the document for `/apis/GROUP`; undefined for an unknown group. */
  group(name: string): JsonObject | undefined {
    const group = this.#groups().find((candidate) => candidate.name === name)
    return group === undefined || name === '' ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupJson(group) }
  }

  /** Returns the document for `/api/VERSION` or `/apis/GROUP/VERSION`; undefined for an unknown group version. */
  resourceList(group: string, version: string): JsonObject | undefined {
    const rows = this.#typesOf(group, version)
    if (rows.length === 0) return undefined
    return {
      kind: 'APIResourceList',
      ...(group === '' ? {} : { apiVersion: 'v1' }),
      groupVersion: apiVersionOf({ group, version }),
      resources: rows.flatMap(resourceJson),
    }
  }

  /**
   * Returns the aggregated document: groups with all their versions and types. The document is for `/api` if `core` is true, and for
   * `/apis` if `core` is false.
   */
  aggregated(core: boolean): Document {
    return this.#document(core, () => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: this.#groups()
        .filter(({ name }) => (name === '') === core)
        .map((group) => ({
          metadata: core ? {} : { name: group.name },
          versions: group.versions.map((groupVersion) => ({
            version: groupVersion,
            resources: this.#typesOf(group.name, groupVersion).map(aggregatedResource),
            freshness: 'Current',
          })),
        })),
    }))
  }

  /** Returns all paths of discovery, for the index at `/`. */
  paths(): readonly string[] {
    const groups = this.#groups().flatMap(({ name, versions }) =>
      name === ''
        ? ['/api', ...versions.map((version) => `/api/${version}`)]
        : [`/apis/${name}`, ...versions.map((version) => `/apis/${name}/${version}`)],
    )
    return ['/apis', ...groups].sort()
  }

  #typesOf(group: string, version: string): readonly ResourceInfo[] {
    const types = this.#catalog.ofGroupVersion(group, version)
    return this.#hasContainers ? types.map(withContainerSubresources) : types
  }

  #groups(): readonly { name: string; versions: readonly string[] }[] {
    return [...this.#catalog.groups()].sort((a, b) => compare(rankOf(a.name), rankOf(b.name)))
  }

  #document(key: boolean, make: () => JsonObject): Document {
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
      ...(info.review === undefined && info.computed === undefined ? { storageVersionHash: storageVersionHash(info) } : {}),
    },
    ...subresourcesOf(info).map(([name, sub]) => ({
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
  const subresources = subresourcesOf(info).map(([subresource, sub]) => ({
    subresource,
    responseKind: responseKind(info, sub),
    verbs: [...sub.verbs],
  }))
  return {
    resource: info.plural,
    responseKind: responseKind(info, { kind: info.kind }),
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: [...info.verbs],
    ...names(info),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}

/**
 * Returns the subresources in kube-apiserver's order. The subresources of built-in types are sorted. Those of custom resources are not
 * sorted.
 */
function subresourcesOf({ custom, subresources }: ResourceInfo): [string, SubresourceInfo][] {
  const entries = Object.entries(subresources)
  return custom ? entries : entries.sort(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * Returns the field `responseKind` of a resource or subresource in aggregated discovery. If `group` or `version` is undefined, a default
 * value is used. For a custom resource, the default is the group or version of the resource. For a built-in type, the default is an empty
 * string.
 */
function responseKind(info: ResourceInfo, { kind, group, version }: Pick<SubresourceInfo, 'kind' | 'group' | 'version'>): JsonObject {
  const place = info.custom ? info : { group: '', version: '' }
  return { group: group ?? place.group, version: version ?? place.version, kind }
}

function names({ shortNames, categories }: ResourceInfo): JsonObject {
  return {
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  }
}

/**
 * Returns the `storageVersionHash` of a type in a discovery document. The hash identifies the version in which the type is stored
 * (k8s.io/apiserver/pkg/endpoints/discovery: StorageVersionHash). If a type is served in several groups, the hash is computed from the
 * group in which the type is stored.
 */
function storageVersionHash({ storageKey, storageVersion, kind }: Pick<ResourceInfo, 'storageKey' | 'storageVersion' | 'kind'>): string {
  const [group] = storageKey.split('/')
  return createHash('sha256').update(`${group}/${storageVersion}/${kind}`).digest().subarray(0, 8).toString('base64')
}

/** Compares two ranks. The ranks are not subtracted, because the difference of two infinite ranks is NaN. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}
