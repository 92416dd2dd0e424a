/**
 * Enables V8's compile cache before the first TypeScript file is loaded, for `node --import`. Node.js then takes the JavaScript of every
 * file from the cache, and does not load its TypeScript compiler.
 */
import { enableCompileCache } from 'node:module'

enableCompileCache()
