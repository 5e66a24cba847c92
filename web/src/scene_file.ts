/** From the bytes of a GLB to objects of three.js, found by the names of the scene's nodes. */

import { Box3, Group, Mesh, MeshStandardMaterial, Object3D, Texture, Vector3, type Material } from "three";
import { GLTFLoader, type GLTF } from "three/addons/loaders/GLTFLoader.js";
import { text } from "./i18n";
import type { SceneDescription } from "./protocol";

export interface LoadedScene {
  /** z up, as everything of Botz. */
  root: Group;
  objects: Map<string, Object3D>;
  description: SceneDescription;
}

interface Document {
  nodes?: { name?: string }[];
  scenes?: { extras?: { botz?: SceneDescription } }[];
}

export async function readScene(glb: ArrayBuffer): Promise<LoadedScene> {
  const gltf = await new GLTFLoader().parseAsync(glb, "");
  const json = gltf.parser.json as Document;
  const description = json.scenes?.[0]?.extras?.botz;
  if (!description) throw new Error(text("error.scene"));
  const objects = namedObjects(gltf, json);
  const root = new Group();
  root.name = "world";
  const top = objects.get("world");
  // The file is y up; its root turns z up to that, which is undone by leaving the root out.
  for (const child of [...(top ?? gltf.scene).children]) root.add(child);
  objects.delete("world");
  for (const info of description.nodes) {
    // A node that a file hides at rest has the scale 0 there.
    objects.get(info.name)?.scale.set(1, 1, 1);
  }
  root.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    object.castShadow = object.userData["casts_shadow"] !== false && !isGlass(object.material as Material);
    object.receiveShadow = true;
  });
  return { root, objects, description };
}

function isGlass(material: Material): boolean {
  return material.transparent && material.opacity < 0.5;
}

/** The loader strips names of `/` and `.`; the file still knows them. */
function namedObjects(gltf: GLTF, json: Document): Map<string, Object3D> {
  const found = new Map<string, Object3D>();
  gltf.scene.traverse((object) => {
    const number = gltf.parser.associations.get(object)?.nodes;
    const name = number === undefined ? undefined : json.nodes?.[number]?.name;
    if (name === undefined) return;
    object.userData["node"] = name;
    found.set(name, object);
  });
  return found;
}

/** Objects of a copied tree, by their nodes' names. */
export function objectsIn(tree: Object3D): Map<string, Object3D> {
  const found = new Map<string, Object3D>();
  tree.traverse((object) => {
    const name = object.userData["node"] as string | undefined;
    if (name !== undefined) found.set(name, object);
  });
  return found;
}

/** Extent of what is drawn below an object, in the object's own axes. */
export function localBounds(object: Object3D): Box3 {
  const bounds = new Box3();
  object.updateWorldMatrix(true, true);
  const inverse = object.matrixWorld.clone().invert();
  object.traverse((part) => {
    if (!(part instanceof Mesh)) return;
    if (!part.geometry.boundingBox) part.geometry.computeBoundingBox();
    const box = (part.geometry.boundingBox as Box3).clone().applyMatrix4(part.matrixWorld).applyMatrix4(inverse);
    bounds.union(box);
  });
  if (bounds.isEmpty()) bounds.set(new Vector3(-0.05, -0.05, -0.05), new Vector3(0.05, 0.05, 0.05));
  return bounds;
}

/** Frees what a tree holds on the graphics card. */
export function freeTree(tree: Object3D): void {
  tree.traverse((object) => {
    const { geometry, material } = object as Partial<Mesh>;
    geometry?.dispose();
    for (const one of Array.isArray(material) ? material : material ? [material] : []) freeMaterial(one);
  });
  tree.removeFromParent();
}

function freeMaterial(material: Material): void {
  for (const value of Object.values(material)) if (value instanceof Texture) value.dispose();
  material.dispose();
}

/** Crisp ground under a flat glance. */
export function sharpenTextures(tree: Object3D, anisotropy: number): void {
  tree.traverse((object) => {
    if (object instanceof Mesh && object.material instanceof MeshStandardMaterial && object.material.map)
      object.material.map.anisotropy = anisotropy;
  });
}
