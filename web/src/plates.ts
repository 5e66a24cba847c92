/** Flat ground that fades into the haze before it ends: a plain, not a tile. */

import { Box3, Mesh, MeshStandardMaterial, Vector3, type Object3D } from "three";
import type { SceneDescription } from "./protocol";

/** Fades all flat plates of a scene that reach far beyond what is worth seeing. */
export function fadePlates(root: Object3D, description: SceneDescription): void {
  const moving = new Set(description.nodes.map((node) => node.name));
  const visit = (object: Object3D): void => {
    if (moving.has((object.userData["node"] as string | undefined) ?? "")) return;
    if (object instanceof Mesh && object.material instanceof MeshStandardMaterial && !object.material.transparent) {
      const box = new Box3().setFromObject(object);
      const size = box.getSize(new Vector3());
      const half = 0.5 * Math.min(size.x, size.y);
      // Terrain ends where it ends: a robot may come to its edge.
      if (size.z < 1e-4 * half && half > 1.5 * description.radius) fade(object, box.getCenter(new Vector3()), half);
    }
    for (const child of object.children) visit(child);
  };
  visit(root);
}

function fade(mesh: Mesh, centre: Vector3, half: number): void {
  const material = (mesh.material as MeshStandardMaterial).clone();
  material.transparent = true;
  material.onBeforeCompile = (shader) => {
    shader.uniforms["plate"] = { value: new Vector3(centre.x, centre.y, half) };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec2 groundPlace;")
      .replace("#include <fog_vertex>", "#include <fog_vertex>\ngroundPlace = (modelMatrix * vec4(position, 1.0)).xy;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec2 groundPlace;\nuniform vec3 plate;")
      .replace(
        "#include <alphatest_fragment>",
        "#include <alphatest_fragment>\n" +
          "diffuseColor.a *= 1.0 - smoothstep(0.55, 0.98, distance(groundPlace, plate.xy) / plate.z);",
      );
  };
  mesh.material = material;
  // Below everything else that is translucent.
  mesh.renderOrder = -0.5;
  mesh.castShadow = false;
}
