/** Declares the properties of resource types that are needed for server-side apply. */
import type { ResourceInfo } from '../rest/resource-info.ts'

/** A resource type, with the properties that server-side apply needs. */
export type AppliedType = Pick<ResourceInfo, 'group' | 'kind' | 'custom' | 'subresources' | 'goType' | 'schema' | 'schemaOf'>
