/**
 * The ASN.1 functions of node-forge. Only this module of node-forge is loaded, because the whole package takes 6 MiB of memory in every
 * operator.
 */
import { createRequire } from 'node:module'
import type forge from 'node-forge'

export const asn1 = createRequire(import.meta.url)('node-forge/lib/asn1.js') as typeof forge.asn1
