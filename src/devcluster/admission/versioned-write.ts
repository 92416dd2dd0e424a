/** A write as webhooks are asked about it: in the version that their rules name. */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { StatusError, internalError } from '../registry/status-error.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { asGo } from '../types/go-value.ts'
import type { AdmissionAttributes } from './admission.ts'

export interface VersionedWrite {
  readonly attributes: AdmissionAttributes
  /** The version of the rules. */
  readonly info: ResourceInfo
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
}

/** The write in any version of its type, each converted once. Throws a `StatusError` 500 when a conversion webhook does not do it. */
export function versionsOf(attributes: AdmissionAttributes): (info: ResourceInfo) => Promise<VersionedWrite> {
  const known = new Map<ResourceInfo, Promise<VersionedWrite>>()
  const convert = async (info: ResourceInfo): Promise<VersionedWrite> => {
    const sent = (object: JsonObject | undefined): Promise<JsonObject | undefined> => asSent(object, info, attributes.info)
    return { attributes, info, object: await sent(attributes.object), oldObject: await sent(attributes.oldObject) }
  }
  return (info) => {
    const write = known.get(info) ?? convert(info)
    known.set(info, write)
    return write
  }
}

/** What a webhook made of the object, in the version of the request; `redefault` belongs to that one. */
export async function fromVersion(
  patched: JsonObject,
  { info, attributes }: VersionedWrite,
  redefault: (object: JsonObject) => JsonObject,
): Promise<JsonObject> {
  if (info.converter === undefined || info.version === attributes.info.version)
    return redefault((await inVersion(patched, attributes.info, info))!)
  return (await inVersion(info.schema?.default(patched) ?? patched, attributes.info, info))!
}

/** The object as a webhook reads it: encoded, in the version of its rules. */
async function asSent(object: JsonObject | undefined, info: ResourceInfo, from: ResourceInfo): Promise<JsonObject | undefined> {
  const encoded =
    object === undefined || from.goType === undefined || from.strategy.tellsEmptyLists !== true ? object : asGo(from.goType, object)
  return inVersion(encoded, info, from)
}

/** The object in another version of its type: conversion strategy None rewrites the apiVersion alone. A Scale has none of these versions. */
async function inVersion(object: JsonObject | undefined, info: ResourceInfo, from: ResourceInfo): Promise<JsonObject | undefined> {
  if (object === undefined || info.version === from.version || object.apiVersion !== apiVersionOf(from)) return object
  const apiVersion = apiVersionOf(info)
  if (from.converter === undefined) return { ...object, apiVersion }
  try {
    return await from.converter.convert(object, apiVersion)
  } catch (error) {
    throw error instanceof StatusError ? internalError(error.message) : error
  }
}
