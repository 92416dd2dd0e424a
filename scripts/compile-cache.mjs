/**
 * Enables V8's compile cache. `node --import` runs this file before Node.js loads the first TypeScript file. Node.js takes the JavaScript
 * of a cached file from the cache. When all files are cached, Node.js does not load its TypeScript compiler.
 */
import { enableCompileCache } from 'node:module'

enableCompileCache()
