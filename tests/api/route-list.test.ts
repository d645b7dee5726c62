import { expect, it } from 'vitest'
import { createNamespace, createOpenApiDocument, createRoutes } from '../../services/api/index.ts'
